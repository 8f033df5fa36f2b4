import Switchyard
import SwitchyardBytes
import SwitchyardSupabase
import SwitchyardWire

/// What a Supabase project shows without an account: its address, keys, functions, and what its database says of itself.
struct SupabaseProbe: Sendable {
    let settings: SupabaseConfiguration
    let web: WebProbe
    let options: DoctorOptions
    let findings: Findings

    init(_ settings: SupabaseConfiguration, _ web: WebProbe, _ options: DoctorOptions, _ findings: Findings) {
        self.settings = settings
        var web = web
        web.serverName = "supabase"
        self.web = web
        self.options = options
        self.findings = findings
    }

    var url: String { settings.url.hasSuffix("/") ? String(settings.url.dropLast()) : settings.url }

    /// - Returns: Whether it answers and takes the key.
    func run() async -> Bool {
        guard await web.reach("\(url)/auth/v1/health", findings) else { return false }
        guard await checkKeys() else { return false }
        if settings.usesDocumentTable { await checkFunctions() }
        await checkTables()
        if let database = options.database { await DatabaseProbe(settings, database, findings).run() }
        return true
    }

    // MARK: Keys

    private func checkKeys() async -> Bool {
        let isAccepted = await check(settings.key, called: "key", at: "\(url)/rest/v1/", kind: "publishable")
        if let key = settings.serviceKey {
            _ = await check(
                key, called: "serviceKey", at: "\(url)/auth/v1/admin/users?page=1&per_page=1", kind: "secret")
        }
        return isAccepted
    }

    private func check(_ key: Secret, called name: String, at address: String, kind: String) async -> Bool {
        let text = key.reveal()
        let expiry = Self.claims(of: text)?["exp"]?.int64
        let now = options.now().seconds
        let copy = "copy the \(kind) key of this very project: Project Settings, API Keys"
        if let expiry, expiry <= now {
            findings.add(
                .wrong(name, "it expired at \(Timestamp(microseconds: expiry * 1_000_000))", cure: copy))
            return false
        }
        var headers: HTTPHeaders = ["apikey": text]
        if Self.claims(of: text) != nil { headers["Authorization"] = "Bearer \(text)" }
        do throws(TransportError) {
            let answer = try await web.send(.get, address, headers)
            guard answer.status != 401, answer.status != 403 || name == "key" else {
                findings.add(.wrong(name, "the project does not accept it (HTTP \(answer.status))", cure: copy))
                return false
            }
        } catch {
            findings.add(.wrong(name, error.message, cure: "check the network"))
            return false
        }
        let form = Self.form(of: text)
        if let expiry, expiry - now < 30 * 86_400 {
            findings.add(
                .remark(
                    name, "\(form), accepted; expires at \(Timestamp(microseconds: expiry * 1_000_000))", cure: copy))
        } else {
            findings.add(.fine(name, "\(form), accepted"))
        }
        return true
    }

    static func claims(of key: String) -> JSON? {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1], alphabet: .url) else { return nil }
        return try? JSON(parsing: bytes)
    }

    private static func form(of key: String) -> String {
        if key.hasPrefix("sb_publishable_") { return "a publishable key" }
        if key.hasPrefix("sb_secret_") { return "a secret key" }
        return claims(of: key)?["role"]?.string.map { "a token of the role “\($0)”" } ?? "a key of an unknown form"
    }

    // MARK: Functions

    /// With the strongest key there is.
    var headers: HTTPHeaders {
        let key = (settings.serviceKey ?? settings.key).reveal()
        return Self.claims(of: key) == nil ? ["apikey": key] : ["apikey": key, "Authorization": "Bearer \(key)"]
    }

    private func checkFunctions() async {
        let install = Cure.installation(options.database)
        do throws(TransportError) {
            let answer = try await web.send(.post, "\(url)/rest/v1/rpc/switchyard_schema", headers, [:])
            let (json, newest) = (answer.json, Int64(DocumentSchema.version))
            if answer.status == 404 {
                findings.add(.wrong("functions", "the functions for documents are not installed", cure: install))
            } else if let version = json["version"]?.int64 ?? json.int64 {
                if let serves = json["serves"]?.int64, serves > newest {
                    findings.add(
                        .wrong("functions", "version \(version) serves only newer clients", cure: "update the package"))
                } else if version < newest {
                    findings.add(
                        .wrong(
                            "functions", "version \(version) is installed, and this package has version \(newest)",
                            cure: install))
                } else {
                    findings.add(.fine("functions", "version \(version)"))
                }
            } else if answer.status == 401 || answer.status == 403 {
                // Without a public rule, callers without a session may call none.
                findings.add(.fine("functions", "installed; callers without a session may not call them"))
            } else {
                findings.add(
                    .wrong(
                        "functions", "the data service answered HTTP \(answer.status): \(Self.words(json))",
                        cure: install))
            }
        } catch {
            findings.add(.wrong("functions", error.message, cure: "check the network"))
        }
    }

    static func words(_ json: JSON) -> String {
        [json["code"]?.string, json["message"]?.string].compactMap { $0 }.joined(separator: ": ")
    }

    // MARK: Tables

    private func checkTables() async {
        for (schema, tables) in Dictionary(grouping: settings.tables, by: \.schema).sorted(by: { $0.key < $1.key }) {
            var description: JSONObject?
            var headers = headers
            headers["Accept"] = "application/openapi+json"
            headers["Accept-Profile"] = schema
            if let answer = try? await web.send(.get, "\(url)/rest/v1/", headers), answer.status == 200 {
                description = answer.json["definitions"]?.object
            } else {
                findings.add(
                    .remark(
                        "tables", "the project does not describe its tables to this key, so columns are not compared",
                        cure: settings.serviceKey == nil ? "\"serviceKey\": \"${SUPABASE_SECRET_KEY}\"" : nil))
            }
            for table in tables { await check(table, described: description) }
        }
    }

    private func check(_ mapping: SupabaseTableMapping, described: JSONObject?) async {
        let name = "table \(mapping.table)"
        if let described {
            guard let columns = described[mapping.table]?["properties"]?.object else {
                // What a key may not use is not described either.
                findings.add(
                    .wrong(
                        name, "“\(mapping.schema).\(mapping.table)” does not exist, or the key may not use it",
                        cure:
                            "grant select, insert, update, delete on \(mapping.sqlName) to authenticated, service_role;\n"
                            + "notify pgrst, 'reload schema';"))
                return
            }
            let missing = mapping.allColumns.filter { columns[$0] == nil }
            guard missing.isEmpty else {
                let near = nearestName(to: missing[0], in: columns.keys).map { "; did you mean “\($0)”?" } ?? ""
                findings.add(
                    .wrong(
                        name, "there is no column “\(missing.joined(separator: "”, “"))”\(near)",
                        cure:
                            "correct “tables” in the configuration, or: alter table \(mapping.sqlName) add column \(missing[0]) text;"
                    ))
                return
            }
            let keys = columns.filter { $0.value["description"]?.string?.includes("<pk/>") == true }.map(\.key)
            let wanted = mapping.parentColumns + [mapping.idColumn]
            if !keys.isEmpty, !Set(keys).isSubset(of: wanted) {
                findings.add(
                    .remark(
                        name,
                        "its primary key has “\(keys.filter { !wanted.contains($0) }.joined(separator: "”, “"))”, which is no part of the path",
                        cure:
                            "name the column in “collection”, in braces, or map the column that is the key as “idColumn”"
                    ))
            } else {
                findings.add(.fine(name, "\(mapping.allColumns.count) columns, key \(wanted.joined(separator: ", "))"))
            }
        }
        await checkRows(of: mapping)
    }

    /// How many rows an answer has at most, as far as the table has as many; and whether rows have versions.
    private func checkRows(of mapping: SupabaseTableMapping) async {
        var headers = headers
        headers["Prefer"] = "count=exact"
        headers["Accept-Profile"] = mapping.schema
        let table = PercentCoding.encode(mapping.table)
        guard
            let answer = try? await web.send(
                .get, "\(url)/rest/v1/\(table)?select=\(PercentCoding.encode(mapping.idColumn))", headers),
            answer.status == 200 || answer.status == 206
        else { return }
        let rows = answer.json.array?.count ?? 0
        let total =
            answer.headers["Content-Range"].flatMap { $0.split(separator: "/").last.flatMap { Int($0) } } ?? rows
        if rows < total, rows < 1000 {
            findings.add(
                .remark(
                    "rows \(mapping.table)",
                    "an answer has at most \(rows) rows of \(total), so that queries take \((total + rows - 1) / max(rows, 1)) requests",
                    cure: "raise it to 1000: Project Settings, Data API, Max rows"))
        } else {
            findings.add(
                .fine(
                    "rows \(mapping.table)",
                    rows < total ? "at most \(rows) in an answer" : "no cap is met: \(total) rows"))
        }
        let version = try? await web.send(.get, "\(url)/rest/v1/\(table)?select=xmin&limit=1", headers)
        if let version, version.status >= 400 {
            findings.add(
                .remark(
                    "versions \(mapping.table)",
                    "its rows have no versions, as in a view: writes are not compared with what was read",
                    cure: "map a table instead of a view"))
        }
    }
}

extension SupabaseTableMapping {
    /// The columns in the collection's path.
    var parentColumns: [String] {
        collection.split(separator: "/").compactMap { part in
            part.hasPrefix("{") && part.hasSuffix("}") ? String(part.dropFirst().dropLast()) : nil
        }
    }

    var allColumns: [String] {
        (parentColumns + [idColumn] + fields.values.sorted()
            + [witnessColumn, createdColumn, updatedColumn].compactMap { $0 })
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    var sqlName: String { [schema, table].map(Self.quoted).joined(separator: ".") }

    static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy {
            (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_")
        }
        guard !isPlain || name.utf8.first.map({ (48...57).contains($0) }) != false else { return name }
        return "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
    }
}

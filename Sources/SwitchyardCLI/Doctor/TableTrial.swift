import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSupabase
import SwitchyardWire

/// Who may read and add rows of the mapped tables, with rows of made-up keys; and whether their changes are announced.
struct TableTrial: Sendable {
    private let trial: Trial
    private let cast: Trial.Cast
    private let settings: SupabaseConfiguration
    private var findings: Findings { trial.findings }

    init(_ trial: Trial, _ cast: Trial.Cast, _ settings: SupabaseConfiguration) {
        self.trial = trial
        self.cast = cast
        self.settings = settings
    }

    func run() async {
        let transport = PlatformTransport.make()
        let web = WebProbe(transport, trial.options)
        let key = settings.key.reveal()
        var out: HTTPHeaders = ["apikey": key]
        if SupabaseProbe.claims(of: key) != nil { out["Authorization"] = "Bearer \(key)" }
        if let token = try? await cast.person.device.infrastructure.auth.accessToken() {
            let mine: HTTPHeaders = ["apikey": key, "Authorization": "Bearer \(token.value.reveal())"]
            for table in settings.tables { await check(table, web, out, mine) }
        }
        await transport.shutDown()
        await checkAnnouncements()
    }

    private var url: String { settings.url.hasSuffix("/") ? String(settings.url.dropLast()) : settings.url }

    // MARK: Rights

    private enum Right {
        case allowed
        /// The role lacks a grant.
        case ungranted
        case denied(String)
        case unknown(String)

        init(_ answer: WebProbe.Answer) {
            let json = answer.json
            switch json["code"]?.string {
            case _ where answer.status < 300: self = .allowed
            case "42501" where json["message"]?.string?.includes("row-level security") == true:
                self = .denied(json["message"]?.string ?? "")
            case "42501": self = .ungranted
            // The row was refused for what it is, after the rights had been looked at.
            case let code? where code.hasPrefix("23") || code.hasPrefix("22"): self = .allowed
            default: self = .unknown("HTTP \(answer.status) \(SupabaseProbe.words(json))")
            }
        }
    }

    private func check(
        _ table: SupabaseTableMapping, _ web: WebProbe, _ out: HTTPHeaders, _ mine: HTTPHeaders
    ) async {
        let name = "rights \(table.table)"
        let grant = "grant select, insert, update, delete on \(table.sqlName) to authenticated;"
        do throws(TransportError) {
            if case .ungranted = try await read(table, web, mine) {
                findings.add(.wrong(name, "a person may not read the table at all", cure: grant))
                return
            }
            switch try await add(to: table, web, mine) {
            case .ungranted:
                findings.add(
                    .wrong(name, "a person may read rows, and not write any: the role has no grant", cure: grant))
            case .denied(let reason):
                findings.add(
                    .remark(
                        name, "a person may not add a row that has only a key: \(reason)",
                        cure: DatabaseProbe.policy(table)))
            case .unknown(let words): findings.add(.remark(name, words))
            case .allowed:
                if case .allowed = try await add(to: table, web, out) {
                    findings.add(
                        .remark(
                            name, "even someone signed out may add rows",
                            cure: "revoke insert, update, delete on \(table.sqlName) from anon;"))
                } else {
                    findings.add(.fine(name, "a person may read and add rows, someone signed out may not add any"))
                }
            }
        } catch {
            findings.add(.wrong(name, error.message, cure: "check the network"))
        }
    }

    private func read(
        _ table: SupabaseTableMapping, _ web: WebProbe, _ headers: HTTPHeaders
    ) async throws(TransportError) -> Right {
        var headers = headers
        headers["Accept-Profile"] = table.schema
        return Right(try await web.send(.get, address(table) + "?limit=1", headers))
    }

    private func address(_ table: SupabaseTableMapping) -> String {
        "\(url)/rest/v1/\(PercentCoding.encode(table.table))"
    }

    /// Adds a row with a made-up key, and removes it again.
    private func add(
        to table: SupabaseTableMapping, _ web: WebProbe, _ headers: HTTPHeaders
    ) async throws(TransportError) -> Right {
        var headers = headers
        headers["Content-Profile"] = table.schema
        headers["Prefer"] = "return=minimal"
        var row = JSONObject()
        var filters: [String] = []
        for column in table.parentColumns + (table.generatesIDs ? [] : [table.idColumn]) {
            let value = madeUp(column, of: table)
            row[column] = value
            filters.append("\(PercentCoding.encode(column))=eq.\(PercentCoding.encode(value.string ?? value.text()))")
        }
        // Without a key of its own, it would not be found again.
        guard !table.generatesIDs else { return .unknown("rows that the database numbers are not tried") }
        let answer = try await web.send(.post, address(table), headers, .object(row))
        guard answer.status < 300 else { return Right(answer) }
        let place = address(table) + "?" + filters.joined(separator: "&")
        headers["Prefer"] = "return=representation"
        let removed = try await web.send(.delete, place, headers)
        if removed.json.array?.isEmpty != false {
            findings.add(
                .remark(
                    "clean-up", "a row of “\(table.table)” stays that its author may not delete",
                    cure:
                        "delete from \(table.sqlName) where \(table.idColumn)::text = '\(row[table.idColumn]?.string ?? "")';"
                ))
        }
        return .allowed
    }

    private func madeUp(_ column: String, of table: SupabaseTableMapping) -> JSON {
        let type = table.uuidColumns.contains(column) ? .uuid : table.columnTypes[column]
        switch type {
        case .uuid?: return .string(UUID().uuidString.lowercased())
        case .int8?, .int4?, .int2?: return .integer(-Int64.random(in: 1...30_000))
        default: return .string("doctor-\(trial.mark)")
        }
    }

    // MARK: Announcements

    /// Live queries of tables that are in no publication work, but are not notified: the client says so.
    private func checkAnnouncements() async {
        let storage = cast.person.storage
        let queries = settings.tables.compactMap { table -> Query? in
            let path = table.collection.split(separator: "/").map { part in
                let name = String(part)
                guard name.hasPrefix("{") else { return name }
                return madeUp(String(name.dropFirst().dropLast()), of: table).string ?? "0"
            }.joined(separator: "/")
            return (try? CollectionPath(validating: path)).map { Query(in: $0).limited(to: 1) }
        }
        let streams = queries.map { query in Task { for try await _ in storage.snapshots(of: query) {} } }
        let before = cast.person.device.notices.all.count
        // Silence is the good answer, so it is waited for; notices come from any thread.
        _ = try? await within(.seconds(3)) {
            while cast.person.device.notices.all.count == before { try await Task.sleep(for: .milliseconds(20)) }
        }
        for stream in streams { stream.cancel() }
        let notices = cast.person.device.notices.all.dropFirst(before)
        if let notice = notices.first {
            findings.add(RuleTrial.finding(for: notice, called: "realtime"))
        } else {
            findings.add(.fine("realtime", "changes of mapped tables are announced"))
        }
    }
}

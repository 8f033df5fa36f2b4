import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// What requests to a local Supabase do, in words.
struct SupabaseWords: Sendable {
    let record: ExchangeRecord
    let state: ExchangeRecord.State

    private var path: Substring { record.head.target.prefix { $0 != "?" } }
    private var body: JSON? { try? JSON(parsing: state.requestBody.bytes) }

    func summary() -> RequestSummary {
        RequestSummary(who: who, service: service, what: what, isAllowed: isAllowed)
    }

    var who: Who {
        Who(
            authorization: record.head.headers["Authorization"],
            key: record.head.headers["apikey"] ?? parameter("apikey"))
    }

    /// A parameter of the query.
    func parameter(_ name: String) -> String? {
        guard let mark = record.head.target.firstIndex(of: "?") else { return nil }
        for item in record.head.target[record.head.target.index(after: mark)...].split(separator: "&") {
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2, halves[0] == name { return PercentCoding.decode(halves[1]) ?? String(halves[1]) }
        }
        return nil
    }

    var service: RequestSummary.Service {
        if path.hasPrefix("/auth/") { return .auth }
        if path.hasPrefix("/storage/") { return .files }
        if path.hasPrefix("/realtime/") { return .realtime }
        if path.hasPrefix("/functions/") { return .functions }
        if let function, ["switchyard_register", "switchyard_messages", "switchyard_unregister"].contains(function) {
            return .messaging
        }
        return .storage
    }

    /// Whether access was allowed, as far as the status tells.
    private var isAllowed: Bool? {
        guard path.hasPrefix("/rest/v1/") || path.hasPrefix("/storage/v1/"), let status = state.status else {
            return nil
        }
        if status == 401 || status == 403 { return false }
        if status >= 400 {
            let code = (try? JSON(parsing: state.responseBody.bytes))?["code"]?.string
            return code == "42501" || (path.hasPrefix("/storage/") && isRefusedObject) ? false : nil
        }
        return true
    }

    /// The file service answers 400 with the status in the body.
    private var isRefusedObject: Bool {
        let code = (try? JSON(parsing: state.responseBody.bytes))?["statusCode"]?.string
        return code == "403" || code == "401"
    }

    /// The function of the database that is called.
    var function: String? {
        path.hasPrefix("/rest/v1/rpc/") ? String(path.dropFirst("/rest/v1/rpc/".count)) : nil
    }

    /// The table that is read or written.
    var table: String? {
        guard path.hasPrefix("/rest/v1/"), function == nil else { return nil }
        let name = path.dropFirst("/rest/v1/".count)
        return name.isEmpty ? nil : PercentCoding.decode(name) ?? String(name)
    }

    /// The bucket and the name of a file.
    var object: (bucket: String, name: String)? {
        guard path.hasPrefix("/storage/v1/object") else { return nil }
        var rest = path.dropFirst("/storage/v1/object".count).split(separator: "/").map {
            PercentCoding.decode($0) ?? ""
        }
        if let first = rest.first, ["public", "authenticated", "sign", "info", "list", "upload"].contains(first) {
            rest.removeFirst()
        }
        if rest.first == "sign" || rest.first == "authenticated" || rest.first == "public" { rest.removeFirst() }
        guard let bucket = rest.first else { return nil }
        return (bucket, rest.dropFirst().joined(separator: "/"))
    }

    private var what: String {
        switch service {
        case .auth:
            let name = path.dropFirst("/auth/v1/".count).split(separator: "/").joined(separator: " ")
            return "account: " + name + (parameter("grant_type").map { " (\($0))" } ?? "")
        case .files: return files
        case .realtime: return path.hasSuffix("/websocket") ? "realtime connection" : "realtime " + path.dropFirst(13)
        case .functions: return "function " + path.dropFirst("/functions/v1/".count)
        case .storage, .messaging: return rows
        }
    }

    private var files: String {
        guard let object else { return path.includes("/bucket") ? "buckets" : "upload in parts" }
        let name = object.bucket + (object.name.isEmpty ? "" : "/" + object.name)
        if path.includes("/object/list/") { return "list \(name)/\(body?["prefix"]?.string ?? "")" }
        if path.includes("/object/sign/") || path.includes("/upload/sign/") { return "sign \(name)" }
        return switch record.head.method {
        case .get, .head: "read \(name)"
        case .delete: "delete \(name)"
        case .put: "replace \(name)"
        default: "upload \(name)"
        }
    }

    // MARK: Rows and documents

    private var rows: String {
        if let function { return call(function) }
        guard let table else { return "description of the tables" }
        return switch record.head.method {
        case .get, .head: "read \(table)"
        case .post:
            record.head.headers["Prefer"]?.includes("resolution=") == true
                ? "upsert into \(table)" : "insert into \(table)"
        case .patch: "update \(table)"
        case .delete: "delete from \(table)"
        default: "\(record.head.method.rawValue) \(table)"
        }
    }

    private func call(_ function: String) -> String {
        switch function {
        case "switchyard_commit", "switchyard_commit_rows", "switchyard_commit_many":
            // Of a large one the beginning is kept, which is no JSON.
            return body == nil ? "write many documents" : Words.listed(writes.map(\.words))
        case "switchyard_get": return Words.listed(paths.map { "get " + $0 })
        case "switchyard_query": return "query " + Self.collection(body?["query"])
        case "switchyard_aggregate": return "count " + Self.collection(body?["query"])
        case "switchyard_row_query", "switchyard_row_aggregate":
            return (function.hasSuffix("query") ? "query " : "count ") + Self.collection(body?["target"]?["query"])
        case "switchyard_rows": return "get rows"
        case "switchyard_changes", "switchyard_look":
            let targets = body?["targets"]?.array ?? []
            return Words.listed(
                targets.map { target in
                    "changes of "
                        + (target["documents"]?.array?.compactMap(\.string).joined(separator: ", ")
                            ?? Self.collection(target["query"]))
                })
        case "switchyard_collections":
            return body?["parent"]?.string.map { "list collections of \($0)" } ?? "list collections"
        case "switchyard_delete_tree": return "delete \(body?["path"]?.string ?? "") and below"
        case "switchyard_register": return "register for messages"
        case "switchyard_messages": return "read messages"
        case "switchyard_unregister": return "end messages"
        default: return "call \(function)"
        }
    }

    static func collection(_ query: JSON?) -> String {
        if let group = query?["group"]?.string { return "all collections “\(group)”" }
        return query?["in"]?.string ?? ""
    }

    /// A write of a batch.
    struct Write: Sendable {
        let json: JSON

        var path: String { json["path"]?.string ?? "" }
        var operation: String { json["op"]?.string ?? "" }

        var words: String {
            switch operation {
            case "set": (json["exists"]?.bool == false ? "create " : "set ") + path
            case "patch": "update " + path
            default: operation + " " + path
            }
        }
    }

    var writes: [Write] {
        let batches = body?["batches"]?.array ?? body.map { [$0] } ?? []
        return batches.flatMap { $0["writes"]?.array ?? [] }.map(Write.init)
    }

    /// The documents that are read by their names.
    var paths: [String] { body?["paths"]?.array?.compactMap(\.string) ?? [] }

    /// The collections that are queried or watched.
    var collections: [String] {
        let queries = [body?["query"]] + (body?["targets"]?.array ?? []).map { $0["query"] }
        return queries.compactMap { $0 }.map(Self.collection)
    }
}

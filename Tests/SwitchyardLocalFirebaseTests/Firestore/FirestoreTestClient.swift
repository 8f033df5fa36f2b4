import SwitchyardBytes
import SwitchyardWire

/// Firestore's REST calls on a local Firebase.
extension LocalClient {
    static let root = "projects/demo-switchyard/databases/(default)/documents"

    func firestore(
        _ method: HTTPMethod, _ place: String, _ body: JSON? = nil, as token: String? = nil
    ) async throws -> Answer {
        let separator = place.isEmpty || place.hasPrefix(":") ? "" : "/"
        return try await send(
            method, "/v1/\(Self.root)\(separator)\(place)", body, authorization: token.map { "Bearer \($0)" })
    }

    func commit(_ writes: JSON..., transaction: String? = nil, as token: String? = nil) async throws -> Answer {
        var body: JSONObject = ["writes": .array(writes)]
        body["transaction"] = transaction.map { .string($0) }
        return try await firestore(.post, ":commit", .object(body), as: token)
    }

    static func name(_ path: String) -> JSON { .string("\(root)/\(path)") }

    static func set(_ path: String, _ fields: JSON, _ extra: JSONObject = JSONObject()) -> JSON {
        var write: JSONObject = ["update": ["name": name(path), "fields": fields]]
        for member in extra.members { write[member.key] = member.value }
        return .object(write)
    }

    static func integer(_ value: Int) -> JSON { ["integerValue": .string(String(value))] }

    func value(_ path: String, _ field: String) async throws -> JSON? {
        try await firestore(.get, path, as: "owner").json["fields"]?[field]
    }

    /// The names of the results of a query, without what stands before them.
    func query(_ structured: JSON, below parent: String = "", as token: String? = nil) async throws -> [String] {
        let answer = try await firestore(.post, parent + ":runQuery", ["structuredQuery": structured], as: token)
        guard answer.status == 200 else { return ["\(answer.errorStatus ?? "\(answer.status)")"] }
        return (answer.json.array ?? []).compactMap { element in
            element["document"]?["name"]?.string.map { String($0.dropFirst(Self.root.count + 1)) }
        }
    }
}

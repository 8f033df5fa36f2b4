import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire

/// A WebChannel session driven by hand: each poll takes what has come so far.
final class RawChannel {
    let client: LocalClient
    private let path: String
    private(set) var session = ""
    private(set) var greeting: JSON = .null
    private(set) var mark: String?
    private var sentMessages = 0
    /// The number of the last message that was taken.
    private(set) var acknowledged = 0
    /// What has been taken, its payload only; keep-alives left out.
    private(set) var received: [JSON] = []

    struct Refused: Error { let status: Int }

    init(_ client: LocalClient, _ kind: String = "Listen") {
        self.client = client
        path = "http://\(client.firebase.host)/google.firestore.v1.Firestore/\(kind)/channel?VER=8"
    }

    private func url(_ items: [(String, String)]) -> String {
        var items = items
        if !session.isEmpty { items.append(("SID", session)) }
        if let mark { items.append(("gsessionid", mark)) }
        return path + items.map { "&\($0)=\(PercentCoding.encode($1))" }.joined()
    }

    func post(_ items: [(String, String)], _ fields: [(String, String)]) async throws -> HTTPResponse {
        let body = FormCoding.encode(fields.map { (name: $0.0, value: $0.1) }, space: .percent)
        return try await client.transport.send(
            HTTPRequest(
                .post, url(items), headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array(body.utf8)))
    }

    private static func fields(_ messages: [JSON], from first: Int) -> [(String, String)] {
        [("count", String(messages.count)), ("ofs", String(first))]
            + messages.enumerated().map { ("req\($0)___data__", $1.text()) }
    }

    func open(_ messages: JSON..., token: String? = nil) async throws {
        let headers = token.map { [("headers", "Authorization:Bearer \($0)\r\n")] } ?? []
        let response = try await post(
            [
                ("database", "projects/demo-switchyard/databases/(default)"), ("RID", "100"), ("CVER", "22"),
                ("X-HTTP-Session-Id", "gsessionid"),
            ], headers + Self.fields(messages, from: 0))
        guard response.isSuccess else { throw Refused(status: response.status) }
        sentMessages = messages.count
        greeting = try RawChannel.frames(response.body).first?[0]?[1] ?? .null
        session = greeting[1]?.string ?? ""
        mark = response.head.headers["X-HTTP-Session-Id"]
    }

    /// - Parameter first: The number of the first message; the next one when left out.
    @discardableResult
    func send(_ messages: JSON..., from first: Int? = nil) async throws -> JSON {
        let response = try await post([("RID", "101")], Self.fields(messages, from: first ?? sentMessages))
        guard response.isSuccess else { throw Refused(status: response.status) }
        sentMessages = max(sentMessages, (first ?? sentMessages) + messages.count)
        return try RawChannel.frames(response.body).first ?? .null
    }

    /// Takes what there is, waiting for something.
    ///
    /// - Returns: The arrays of the frame, numbers included, as they came.
    @discardableResult
    func poll(acknowledging: Int? = nil) async throws -> [JSON] {
        let query = [("RID", "rpc"), ("AID", String(acknowledging ?? acknowledged)), ("CI", "1"), ("TYPE", "xmlhttp")]
        let response = try await client.transport.send(HTTPRequest(.get, url(query)))
        guard response.isSuccess else { throw Refused(status: response.status) }
        let arrays = try RawChannel.frames(response.body).flatMap { $0.array ?? [] }
        for array in arrays {
            guard let id = array[0]?.int, id > acknowledged else { continue }
            acknowledged = id
            if array[1] != ["noop"], let payload = array[1] { received.append(payload) }
        }
        return arrays
    }

    /// Polls until `count` consistent states have come in all.
    func wait(forStates count: Int) async throws {
        while received.count(where: \.isConsistentState) < count { try await poll() }
    }

    func terminate() async throws -> Int {
        try await client.transport.send(HTTPRequest(.get, url([("RID", "102"), ("TYPE", "terminate")]))).status
    }

    /// Takes frames apart by their length in the units of UTF-16.
    static func frames(_ bytes: [UInt8]) throws -> [JSON] {
        var frames: [JSON] = []
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        while let end = rest.firstIndex(of: "\n"), let units = Int(rest[..<end]) {
            let text = rest[rest.index(after: end)...]
            let stop = text.utf16.index(text.startIndex, offsetBy: units)
            frames.append(try JSON(parsing: String(text[..<stop])))
            rest = text[stop...]
        }
        return frames
    }
}

extension JSON {
    /// What a payload says, in one word and a name: `ADD 2`, `change c/a`, `state`.
    var gist: String {
        let message = self[0]
        if let change = message?["targetChange"] {
            guard let ids = change["targetIds"]?.array else { return "state" }
            return "\(change["targetChangeType"]?.string ?? "NO_CHANGE") \(ids.compactMap(\.int))"
        }
        func name(_ text: JSON?) -> String { String((text?.string ?? "").dropFirst(LocalClient.root.count + 1)) }
        if let change = message?["documentChange"] {
            let removed = change["removedTargetIds"]?.array?.compactMap(\.int) ?? []
            return "change \(name(change["document"]?["name"]))" + (removed.isEmpty ? "" : " gone from \(removed)")
        }
        if let delete = message?["documentDelete"] { return "delete \(name(delete["document"]))" }
        if let filter = message?["filter"] { return "filter \(filter["count"]?.int ?? 0)" }
        if let error = message?["error"] { return "error \(error["status"]?.string ?? "")" }
        return text()
    }

    fileprivate var isConsistentState: Bool { gist == "state" }
}

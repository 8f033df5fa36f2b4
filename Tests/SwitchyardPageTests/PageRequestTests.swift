import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardPage
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// What the page shows of requests to a local Firebase.
@Suite struct PageRequestTests {
    private static let root = "/v1/projects/demo-switchyard/databases/(default)/documents"

    /// A server, its page, and requests to the server as a client sends them.
    struct Bed: Sendable {
        let firebase: LocalFirebase
        let page: PageBed

        init(_ options: LocalFirebaseOptions = LocalFirebaseOptions()) async throws {
            firebase = try LocalFirebase(options)
            page = try PageBed([try await .local(firebase)], backend: "firebase")
        }

        func stop() async {
            await page.stop()
            await firebase.stop()
        }

        @discardableResult
        func send(
            _ method: HTTPMethod, _ path: String, as user: String?, _ body: JSON? = nil
        ) async throws -> HTTPResponse {
            var request = HTTPRequest(method, "http://\(firebase.host)" + path)
            if let user { request.headers["Authorization"] = "Bearer " + firebase.idToken(for: user) }
            if let body { request.body = body.bytes() }
            return try await page.transport.send(request)
        }

        func last() async throws -> JSON { try await page.lastRequest() }
    }

    @Test func `A request is shown with who, what, how long and its answer`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        let document = Self.root + "/users/alice/notes/a"
        try await bed.send(.patch, document, as: "alice", ["fields": ["n": ["integerValue": "1"]]])
        let request = try await bed.last()
        #expect(request["what"] == "update users/alice/notes/a")
        #expect(request["who"] == ["kind": "user", "id": "alice"])
        #expect(request["service"] == "storage")
        #expect(request["status"] == 200)
        #expect(request["milliseconds"]?.double != nil)
        #expect(request["requestBody"]?["text"]?.string?.contains("integerValue") == true)
        #expect(request["responseBody"]?["text"]?.string?.contains("updateTime") == true)
        let authorization = request["requestHeaders"]?.array?.first { $0["name"] == "Authorization" }
        #expect(authorization?["value"]?.string?.hasSuffix("…") == true)
        #expect(authorization?["value"]?.string?.count ?? 100 < 20)
        try await events.first("request", "the news of the request") { $0["status"] == 200 && $0["n"] == request["n"] }
        await bed.stop()
    }

    @Test func `The page's own requests are not among them`() async throws {
        let bed = try await Bed()
        try await bed.page.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        try await bed.page.call(.post, "query", ["collection": "notes"])
        #expect(try await bed.page.call(.get, "requests")["requests"] == [])
        await bed.stop()
    }

    @Test func `Why a request was denied is said with the rule, its line and what was false`() async throws {
        let bed = try await Bed()
        let answer = try await bed.send(.get, Self.root + "/users/alice/notes/a", as: "bob")
        #expect(answer.status == 403)
        let request = try await bed.last()
        #expect(request["decision"] == ["allowed": false])
        let explanation = request["explanation"]
        #expect(explanation?["allowed"] == false)
        let step = explanation?["steps"]?.array?.last
        #expect(step?["source"] == "rules")
        #expect(step?["rule"] == "allow read, write: if isMe(person);")
        #expect(step?["line"] == 17)
        #expect(step?["result"] == false)
        let decisive = step?["operands"]?.array?.filter { $0["decisive"] == true }
        #expect(decisive?.count == 1)
        #expect(decisive?.first?["text"] == "isMe(person): request.auth.uid == person")
        #expect(decisive?.first?["value"] == #"false: "bob" == "alice""#)
        await bed.stop()
    }

    @Test func `Of the rules of the domain clients, the operand that was false is said`() async throws {
        var options = LocalFirebaseOptions()
        options.hasDomainRules = true
        let bed = try await Bed(options)
        try await bed.page.call(
            .post, "write", ["kind": "set", "path": "users/alice/contacts/bob", "data": ["name": "Bob"]])
        let path = Self.root + "/users/alice/notifications/n"
        let field: JSON = ["fields": ["title": ["stringValue": "Hi"], "nonsense": ["booleanValue": true]]]
        let denied = try await bed.send(.patch, path, as: "bob", field)
        #expect(denied.status == 403)
        let step = try await bed.last()["explanation"]?["steps"]?.array?.last
        #expect(step?["name"] == "domain.rules")
        let decisive = step?["operands"]?.array?.filter { $0["decisive"] == true }
        #expect(decisive?.count == 1)
        #expect(decisive?.first?["text"]?.string?.contains("hasOnly") == true)
        #expect(decisive?.first?["value"]?.string?.hasPrefix("false: ") == true)
        try await bed.send(.patch, path, as: "bob", ["fields": ["title": ["stringValue": "Hi"]]])
        let allowed = try await bed.last()["explanation"]
        #expect(allowed?["allowed"] == true)
        #expect(allowed?["steps"]?.array?.last?["line"] == 58)
        await bed.stop()
    }

    @Test func `Details are never blank`() async throws {
        let bed = try await Bed()
        let toolkit = "/identitytoolkit.googleapis.com/v1/accounts"
        let cases: [(HTTPMethod, String, String?, JSON?)] = [
            (.post, toolkit + ":signUp?key=any", nil, ["email": "a@example.com", "password": "123456"]),
            (.post, toolkit + ":signInWithPassword?key=any", nil, ["email": "a@example.com", "password": "wrong"]),
            (.get, "/v0/b/demo-switchyard.appspot.com/o?prefix=users/alice/", "alice", nil),
            (.get, "/v0/b/demo-switchyard.appspot.com/o/users%2Falice%2Fa.txt", "bob", nil),
            (.post, Self.root + ":runQuery", "alice", ["structuredQuery": ["from": [["collectionId": "users"]]]]),
            (.post, Self.root + ":commit", "alice", ["writes": []]),
            (.get, "/nowhere", nil, nil),
            (.post, Self.root + ":runQuery", nil, ["nonsense": 1]),
        ]
        for (method, path, user, body) in cases {
            try await bed.send(method, path, as: user, body)
            let request = try await bed.last()
            #expect(request["explanation"]?["steps"]?.array?.isEmpty == false, "\(path)")
            #expect(request["explanation"]?["summary"]?.string?.isEmpty == false, "\(path)")
            #expect(request["what"]?.string?.isEmpty == false, "\(path)")
            #expect(request["requestBody"]?["text"]?.string?.contains("123456") == false)
        }
        await bed.stop()
    }

    @Test func `A request is sent again as it was`() async throws {
        let bed = try await Bed()
        let path = Self.root + "/notes/a"
        try await bed.send(.patch, path, as: "alice", ["fields": ["n": ["integerValue": "1"]]])
        let first = try await bed.last()["n"]?.int ?? 0
        try await bed.page.call(.post, "write", ["kind": "delete", "path": "notes/a"])
        let second = try await bed.page.call(.post, "requests/\(first)/replay")["n"]?.int
        #expect(second ?? 0 > first)
        #expect(try await bed.page.call(.post, "get", ["path": "notes/a"])["data"] == ["n": ["integer": 1]])
        #expect(try await bed.last()["who"]?["id"] == "alice")
        await bed.stop()
    }

    @Test func `A live query is shown, with who watches what and why it is denied`() async throws {
        let bed = try await Bed()
        var configuration = FirebaseConfiguration(project: bed.firebase.project, apiKey: "any")
        configuration.emulators = .init(firestore: bed.firebase.host, auth: bed.firebase.host)
        let client = try await Infrastructure(FirebaseModule(configuration))
        await #expect(throws: StorageError.self) {
            for try await _ in client.storage.snapshots(of: Query(in: "notes"), options: ListenOptions()) {}
        }
        var watched: JSON?
        try await eventually("the watch is shown", within: .seconds(20)) {
            let all = try await bed.page.call(.get, "requests")["requests"]?.array ?? []
            watched = all.first { $0["what"]?.string?.contains("watch notes") == true && $0["phase"] == "done" }
            return watched != nil
        }
        let details = try await bed.page.call(.get, "requests/\(watched?["n"]?.int ?? 0)")
        #expect(details["explanation"]?["allowed"] == false)
        #expect(details["who"]?["kind"] == "signedOut")
        await client.shutDown()
        await bed.stop()
    }
}

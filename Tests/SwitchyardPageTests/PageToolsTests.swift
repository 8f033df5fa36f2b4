import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardPage
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Faults, accounts, files, messages and the rest, on a local Firebase.
@Suite struct PageToolsTests {
    private typealias Bed = PageRequestTests.Bed

    private static let root = "/v1/projects/demo-switchyard/databases/(default)/documents"
    private static let toolkit = "/identitytoolkit.googleapis.com/v1/accounts"

    @Test func `A fault concerns clients, not the page`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        let added = try await bed.page.call(.post, "faults", ["fault": "answer", "status": 503, "times": .null])
        #expect(try await bed.send(.get, Self.root + "/notes", as: "alice").status == 503)
        try await bed.page.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        let list = try await bed.page.call(.get, "faults")["faults"]?.array
        #expect(list?.count == 1)
        #expect(list?.first?["strikes"] == 1)
        #expect(try await bed.last()["fault"] == "answer")
        try await events.first("faults", "the news of the fault") { $0["faults"]?.array?.count == 1 }
        try await bed.page.call(.delete, "faults/\(added["id"]?.int ?? 0)")
        #expect(try await bed.send(.get, Self.root + "/notes", as: "alice").status == 200)
        let wrong = try await bed.page.send(.post, "/api/b/firebase/faults", ["fault": "nonsense"])
        #expect(wrong.status == 400)
        events.stop()
        await bed.stop()
    }

    @Test func `A held request waits until it is let pass`() async throws {
        let bed = try await Bed()
        let added = try await bed.page.call(.post, "faults", ["fault": "holdRequest"])
        let sending = Task { try await bed.send(.get, Self.root + "/notes", as: "alice").status }
        try await eventually("the request is held") {
            try await bed.page.call(.get, "faults")["faults"]?[0]?["held"] == 1
        }
        let waiting = try await bed.page.call(.get, "requests?limit=1")["requests"]?[0]
        #expect(waiting?["phase"] == "waiting")
        #expect(waiting?["status"] == nil)
        try await bed.page.call(.post, "faults/\(added["id"]?.int ?? 0)/open")
        #expect(try await sending.value == 200)
        await bed.stop()
    }

    @Test func `Deaf clients miss changes, and catch up afterwards`() async throws {
        let bed = try await Bed()
        let client = try await Self.client(of: bed, user: "alice")
        let seen = FollowedTexts(client.storage.snapshots(of: Query(in: "notes"), options: ListenOptions()))
        try await eventually("the query is live") { seen.isCurrent }
        try await bed.page.call(.post, "watch", ["watch": "w", "collection": "notes"])
        let events = try await bed.page.events(after: 0)
        try await events.first("data", "the page's own query is live") { $0["isFromCache"] == false }
        try await bed.page.call(.post, "faults/deaf", ["on": true])
        try await bed.page.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        try await events.first("data", "the page sees the change") { $0["changed"] == ["notes/a"] }
        #expect(seen.paths == [])
        try await bed.page.call(.post, "faults/deaf", ["on": false])
        try await eventually("the client catches up", within: .seconds(60)) { seen.paths == ["notes/a"] }
        events.stop()
        seen.stop()
        await client.shutDown()
        await bed.stop()
    }

    private static func client(of bed: PageRequestTests.Bed, user: String) async throws -> Infrastructure {
        var configuration = FirebaseConfiguration(project: bed.firebase.project, apiKey: "any")
        configuration.emulators = .init(
            firestore: bed.firebase.host, auth: bed.firebase.host, storage: bed.firebase.host)
        let client = try await Infrastructure(FirebaseModule(configuration))
        try await client.auth.signUp(email: "\(user)@example.com", password: "123456")
        return client
    }

    @Test func `Disconnecting cuts clients off`() async throws {
        let bed = try await Bed()
        let open = try await bed.page.transport.stream(HTTPRequest(.get, "http://\(bed.firebase.host)/"))
        _ = open
        try await bed.page.call(.post, "faults/disconnect")
        #expect(try await bed.page.call(.get, "collections")["collections"] == [])
        await bed.stop()
    }

    @Test func `Acting as someone shows what they would see, and why not`() async throws {
        let bed = try await Bed()
        try await bed.page.call(.post, "write", ["kind": "set", "path": "users/alice/notes/a", "data": ["n": 1]])
        let mine = try await bed.page.call(.post, "get", ["path": "users/alice/notes/a", "as": ["user": "alice"]])
        #expect(mine["exists"] == true)
        for persona: JSON in [["user": "bob"], ["signedOut": true]] {
            let denied = try await bed.page.send(
                .post, "/api/b/firebase/get", ["path": "users/alice/notes/a", "as": persona])
            #expect(denied.status == 403)
            let error = try JSON(parsing: denied.body)["error"]
            #expect(error?["explanation"]?["steps"]?.array?.last?["line"]?.int != nil)
            let check = try await bed.page.call(
                .post, "actAs/check", ["path": "users/alice/notes/a", "as": persona])
            #expect(check["read"]?["allowed"] == false)
            #expect(check["read"]?["explanation"]?["steps"]?.array?.isEmpty == false)
        }
        let check = try await bed.page.call(
            .post, "actAs/check", ["path": "users/alice/notes/a", "as": ["user": "alice", "claims": ["team": "red"]]])
        #expect(check["write"]?["allowed"] == true)
        await bed.stop()
    }

    @Test func `A write of someone who is signed out is denied at once`() async throws {
        let bed = try await Bed()
        let denied = try await bed.page.send(
            .post, "/api/b/firebase/write",
            ["kind": "set", "path": "notes/a", "data": ["n": 1], "as": ["signedOut": true]])
        #expect(denied.status == 403)
        #expect(try JSON(parsing: denied.body)["error"]?["explanation"]?["allowed"] == false)
        #expect(try await bed.page.call(.post, "get", ["path": "notes/a"])["exists"] == false)
        await bed.stop()
    }

    @Test func `A query that is denied says why`() async throws {
        let bed = try await Bed()
        let denied = try await bed.page.send(
            .post, "/api/b/firebase/query", ["collection": "users/alice/notes", "as": ["user": "bob"]])
        #expect(denied.status == 403)
        let error = try JSON(parsing: denied.body)["error"]
        let step = error?["explanation"]?["steps"]?.array?.last
        #expect(step?["operands"]?.array?.contains { $0["value"] == #"false: "bob" == "alice""# } == true)
        await bed.stop()
    }

    @Test func `Of a configured backend with custom tokens, the page acts as a user`() async throws {
        let firebase = try LocalFirebase()
        var configuration = FirebaseConfiguration(project: firebase.project, apiKey: "any")
        configuration.emulators = .init(firestore: firebase.host, auth: firebase.host, storage: firebase.host)
        let module = FirebaseModule(configuration)
        let backend = try await PageBackend.configured(
            try await Infrastructure(module), name: "firebase",
            device: { () async throws(InfrastructureError) in try await Infrastructure(module) })
        let page = try PageBed([backend], backend: "configured")
        let site = try JSON(parsing: try await page.send(.get, "/api/site").body)
        #expect(site["backends"]?[0]?["can"]?["actAs"] == true)
        try await page.call(.post, "write", ["kind": "set", "path": "users/alice/notes/a", "data": ["n": 1]])
        let own = try await page.call(.post, "get", ["path": "users/alice/notes/a", "as": ["user": "alice"]])
        #expect(own["exists"] == true)
        for persona: JSON in [["user": "bob"], ["signedOut": true]] {
            let denied = try await page.send(
                .post, "/api/b/configured/get", ["path": "users/alice/notes/a", "as": persona])
            #expect(denied.status == 403)
        }
        try await page.call(.post, "accounts", ["id": "carol", "email": "carol@example.com"])
        #expect(try await page.call(.get, "accounts?search=carol")["accounts"]?[0]?["email"] == "carol@example.com")
        await page.stop()
        await firebase.stop()
    }

    @Test func `A mail that was sent has a link that works`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        try await bed.send(
            .post, Self.toolkit + ":signUp?key=any", as: nil, ["email": "a@example.com", "password": "123456"])
        try await bed.send(
            .post, Self.toolkit + ":sendOobCode?key=any", as: nil,
            ["requestType": "PASSWORD_RESET", "email": "a@example.com"])
        let mail = try await events.first("outbox", "the mail")
        #expect(mail["kind"] == "mail")
        #expect(mail["to"] == "a@example.com")
        let link = mail["links"]?[0]?.string ?? ""
        let response = try await bed.page.transport.send(HTTPRequest(.get, link + "&newPassword=654321"))
        #expect(response.status == 200)
        let signIn = try await bed.send(
            .post, Self.toolkit + ":signInWithPassword?key=any", as: nil,
            ["email": "a@example.com", "password": "654321"])
        #expect(signIn.status == 200)
        let outbox = try await bed.page.call(.get, "outbox")["messages"]?.array
        #expect(outbox?.count == 1)
        try await bed.send(
            .post, Self.toolkit + ":sendVerificationCode?key=any", as: nil, ["phoneNumber": "+15550100"])
        let text = try await events.first("outbox", "the text message") { $0["kind"] == "sms" }
        #expect(text["code"]?.string?.count == 6)
        events.stop()
        await bed.stop()
    }

    @Test func `Accounts are made, changed, disabled and deleted`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        let made = try await bed.page.call(
            .post, "accounts",
            ["id": "ada", "email": "ada@example.com", "password": "123456", "claims": ["team": "red"]])
        #expect(made["id"] == "ada")
        try await events.first("accounts", "the news") { $0["account"] == "ada" }
        for number in 1...120 {
            try await bed.page.call(.post, "accounts", ["id": .string("user-\(number)")])
        }
        let first = try await bed.page.call(.get, "accounts")
        #expect(first["accounts"]?.array?.count == 100)
        let second = try await bed.page.call(.get, "accounts?after=\(first["after"]?.string ?? "")")
        #expect(second["accounts"]?.array?.count == 21)
        let found = try await bed.page.call(.get, "accounts?search=ada@example.com")["accounts"]?[0]
        #expect(found?["claims"] == ["team": "red"])
        try await bed.page.call(.patch, "accounts/ada", ["isDisabled": true])
        let refused = try await bed.send(
            .post, Self.toolkit + ":signInWithPassword?key=any", as: nil,
            ["email": "ada@example.com", "password": "123456"])
        #expect(refused.status == 400)
        #expect(try await bed.page.call(.get, "accounts/ada/sessions")["isListed"] == false)
        try await bed.page.call(.delete, "accounts/ada/sessions")
        try await bed.page.call(.delete, "accounts/ada")
        #expect(try await bed.page.call(.get, "accounts?search=ada")["accounts"] == [])
        let wrong = try await bed.page.send(.patch, "/api/b/firebase/accounts/none", ["isDisabled": true])
        #expect(wrong.status == 404 || wrong.status == 422)
        events.stop()
        await bed.stop()
    }

    @Test func `Files are listed, stored, read and deleted`() async throws {
        let bed = try await Bed()
        let put = try await bed.page.send(.put, "/api/b/firebase/file?path=users/ada/a.txt", .string("hello"))
        #expect(put.status == 200)
        #expect(try await bed.page.call(.get, "files?prefix=users")["folders"] == ["users/ada/"])
        let list = try await bed.page.call(.get, "files?prefix=users/ada/")
        #expect(list["files"]?[0]?["size"] == 7)
        let content = try await bed.page.send(.get, "/api/b/firebase/file?path=users/ada/a.txt&download=true")
        #expect(content.body == Array("\"hello\"".utf8))
        #expect(content.headers["Content-Disposition"]?.hasPrefix("attachment") == true)
        let denied = try await bed.page.send(
            .get, "/api/b/firebase/file?path=users/ada/a.txt&as=%7B%22signedOut%22%3Atrue%7D")
        #expect(denied.status == 403)
        try await bed.page.call(.delete, "file?path=users/ada/a.txt")
        #expect(try await bed.page.send(.get, "/api/b/firebase/file?path=users/ada/a.txt").status == 404)
        await bed.stop()
    }

    @Test func `A message is sent, and it is said who has received it`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        try await bed.page.call(
            .post, "messages", ["topic": "news", "title": "Hello", "body": "World", "data": ["k": "v"]])
        let told = try await events.first("outbox", "the message") { $0["kind"] == "push" }
        #expect(told["subject"] == "Hello")
        #expect(told["receivers"] == [])
        let messages = try await bed.page.call(.get, "messages")["messages"]?.array
        #expect(messages?.first?["to"] == "news")
        #expect(messages?.first?["data"] == ["k": "v"])
        events.stop()
        await bed.stop()
    }

    @Test func `A reset deletes everything of the project, and says so`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        try await bed.page.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        try await bed.page.call(.post, "accounts", ["id": "ada"])
        _ = try await bed.page.send(.put, "/api/b/firebase/file?path=a.txt", .string("hello"))
        try await bed.page.call(.post, "watch", ["watch": "w", "collection": "notes"])
        try await events.first("data", "the document") { $0["documents"]?.array?.count == 1 }
        try await bed.page.call(.post, "reset")
        try await events.first("reset", "the reset") { $0["backend"] == "firebase" }
        try await events.first("data", "whoever watches sees it") {
            $0["documents"] == [] && $0["changed"] == ["notes/a"]
        }
        #expect(try await bed.page.call(.get, "collections")["collections"] == [])
        #expect(try await bed.page.call(.get, "accounts")["accounts"] == [])
        #expect(try await bed.page.call(.get, "files")["files"] == [])
        events.stop()
        await bed.stop()
    }
}

import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

struct Mail: Codable, Sendable {
    var to: String
    var text: String
}

/// What the articles on servers say, done on the mock.
@Suite struct ServerArticlesTests {
    private final class Log: Sendable {
        private let kept = Mutex<[String]>([])
        var lines: [String] { kept.withLock { $0 } }
        func add(_ line: String) { kept.withLock { $0.append(line) } }
    }

    private let project = MockBackend()
    private let log = Log()
    private let backend: Infrastructure

    init() async throws { backend = try await Infrastructure(.mock(project)) }

    private func log(_ items: Any...) { log.add(items.map { "\($0)" }.joined(separator: " ")) }

    /// Somebody's app: who they are, and what it sends with each request.
    private func signUp(_ name: String) async throws -> (id: AuthUser.ID, authorization: String) {
        let app = try await Infrastructure(.mock(project))
        let user = try await app.auth.signUp(email: "\(name)@example.org", password: "a long one").get()
        let token = try await app.auth.accessToken()
        await app.shutDown()
        return (user.id, "Bearer \(token.value.reveal())")
    }

    func keepPortrait(_ image: Data, of caller: VerifiedToken) async throws -> FileMetadata {
        try await backend.acting(as: caller).files.put(image, at: "users/\(caller.userID)/portrait.jpg")
    }

    func orders(of caller: VerifiedToken, requestID: String?) async throws -> QuerySnapshot {
        try await withRequest(id: requestID, deadline: .now + .seconds(5)) {
            try await backend.acting(as: caller).storage.documents(Query(in: "orders"))
        }
    }

    func invoices(of caller: VerifiedToken, headers: [String: String]) async throws -> QuerySnapshot {
        let trace = TraceContext(traceparent: headers["traceparent"], tracestate: headers["tracestate"])
        return try await withRequest(trace: trace) {
            try await backend.acting(as: caller).storage.documents(Query(in: "invoices"))
        }
    }

    @Test func `A request is served for whoever asks, and by the deadline`() async throws {
        let (ann, authorization) = try await signUp("ann")
        try project.seed([("orders/1", ["owner": .string(ann)]), ("orders/2", ["owner": "bob"])])
        let verifier = try await backend.tokenVerifier()

        func orders(_ authorization: String?) async throws -> QuerySnapshot {
            let caller = try await verifier.verify(authorization: authorization)
            let mine = try await backend.acting(as: caller)
            return try await mine.storage.documents(Query(in: "orders").where("owner", .equal, caller.userID))
        }

        #expect(try await orders(authorization).documents.map(\.id) == ["1"])
        await #expect(throws: TokenError.self) { try await orders(nil) }
        let caller = try await verifier.verify(authorization: authorization)
        #expect(try await self.orders(of: caller, requestID: "7f3a").documents.count == 2)
        let fields = ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]
        #expect(try await invoices(of: caller, headers: fields).documents.isEmpty)
        #expect(try await keepPortrait(Data([1]), of: caller).size == 1)
        await backend.shutDown()
    }

    @Test func `A server bounds what it asks for at a time`() async throws {
        var limited = InfrastructureOptions()
        limited.callLimits = CallLimits(underWay: 64, waiting: 256)
        let bounded = try await Infrastructure(.mock, in: limited)
        await bounded.shutDown()
        await backend.shutDown()
    }

    @Test func `The project sees and deletes everything`() async throws {
        let userID = "ann"
        try project.seed([("users/ann/notes/1", ["text": "…"]), ("orders/1", ["owner": "ann"])])
        try await backend.actingAsProject().files.put(Data([1]), at: "users/ann/portrait.jpg")

        let project = try await backend.actingAsProject()
        let names = try await project.storage.collections(under: nil)
        let gone = try await project.storage.deleteRecursively("users/\(userID)")
        try await project.files.delete("users/\(userID)/portrait.jpg")
        log(names, gone)
        #expect(gone >= 1 && Set(names.map(\.description)) == ["orders", "users"])
        await backend.shutDown()
    }

    @Test func `Accounts are made, changed, listed and deleted`() async throws {
        let admin = try await backend.admin()
        let alice = try await admin.create(NewAccount(email: "alice@example.com", password: "long enough"))
        try await admin.setClaims(["role": "editor"], of: alice.id)
        let link = try await admin.link(.passwordReset, for: "alice@example.com")
        for try await page in admin.accountPages() { log(page.accounts.count, link) }
        let failures = try await admin.delete([alice.id])
        #expect(failures.isEmpty && log.lines.first?.hasPrefix("1 ") == true)
        await backend.shutDown()
    }

    private func forget(_ device: MessagingToken) async throws { log("forgotten") }

    func notify(_ devices: [MessagingToken], _ text: String) async throws {
        let sender = try await backend.messageSender()
        let messages = devices.map { OutgoingMessage(to: .device($0), title: "News", body: text) }
        for (device, outcome) in zip(devices, await sender.send(messages)) {
            guard case .failure(let error) = outcome else { continue }
            if error.code == .unregistered { try await forget(device) } else { log(error.message) }
        }
    }

    @Test func `A server notifies many devices, and forgets those that are gone`() async throws {
        let phone = try await Infrastructure(.mock(project))
        let token = try await phone.messaging.token()
        try await notify([token, MessagingToken("gone")], "It rains.")
        #expect(project.messages.sent.map(\.body) == ["It rains."])
        #expect(log.lines == ["forgotten"])
        await phone.shutDown()
        await backend.shutDown()
    }

    func archiveAll(from kept: ScanPlace?, keep: @escaping (ScanPlace) async throws -> Void) async throws {
        let project = try await backend.actingAsProject()
        try await project.storage.forEachDocument(Query(in: "orders"), parallel: 8, from: kept) { order in
            log(order.id)
        } reached: { place in
            try await keep(place)
        }
    }

    func load(_ products: [(id: String, name: String)]) async throws {
        var options = BulkOptions()
        options.rampFrom = 500
        let writes = try products.map { try DocumentWrite.set("products/\($0.id)", ["name": .of($0.name)]) }
        let report = try await backend.actingAsProject().storage.writeInBulk(writes, options: options) { result in
            if case .failure(let error) = result.outcome { log(result.write.path, error.message) }
        }
        log(report)
    }

    func work() async throws {
        let mails = WorkQueue("mails", on: try await backend.actingAsProject().storage, of: Mail.self)
        try await mails.add(Mail(to: "alice@example.com", text: "Hello"), id: "welcome-alice")
        try await mails.run(parallel: 4) { job in
            log("sending", job.payload.to)
        }
    }

    @Test func `A job goes on where it was stopped`() async throws {
        try project.seed((0..<3).map { (try StoragePath(validating: "orders/\($0)"), ["n": .of($0)]) })
        let places = Mutex<[ScanPlace]>([])
        try await archiveAll(from: nil) { place in places.withLock { $0.append(place) } }
        #expect(Set(log.lines) == ["0", "1", "2"])
        let last = try #require(places.withLock { $0 }.last)
        try await archiveAll(from: last) { _ in }
        #expect(log.lines.count == 3)
        await backend.shutDown()
    }

    @Test func `Many documents are written, and many jobs are worked on`() async throws {
        try await load((0..<20).map { (id: "\($0)", name: "Soap") })
        #expect(log.lines == ["20 written, 0 failed, 0 batches tried again"])
        let working = Task { try await work() }
        try await eventually("the mail is sent") { log.lines.contains("sending alice@example.com") }
        working.cancel()
        _ = await working.result
        await backend.shutDown()
    }

    func move(_ collections: [String], from old: ProjectClients, to new: ProjectClients) async throws {
        for name in collections {
            try await old.storage.forEachDocument(Query(group: name), parallel: 8) { document in
                guard let fields = document.data else { return }
                _ = try await new.storage.setDocument(document.path, fields)
            }
        }
    }

    @Test func `Documents move to another project`() async throws {
        try project.seed([("users/ann", ["name": "Ann"]), ("users/ann/notes/1", ["text": "…"]), ("other/1", ["n": 1])])
        let elsewhere = MockBackend()
        let next = try await Infrastructure(.mock(elsewhere))
        try await move(["users", "notes"], from: backend.actingAsProject(), to: next.actingAsProject())
        #expect(elsewhere.documentCount == 2)
        #expect(try await MockStorageClient(elsewhere).document("users/ann/notes/1")["text"] == "…")
        await next.shutDown()
        await backend.shutDown()
    }

    func deleteEverything(_ authorization: String?) async throws {
        let caller = try await backend.tokenVerifier().verify(authorization: authorization, checksRevocation: true)
        try await backend.acting(as: caller).storage.deleteRecursively("users/\(caller.userID)")
    }

    @Test func `What must not wait for a token to run out asks the issuer`() async throws {
        let (ann, authorization) = try await signUp("ann")
        try project.seed([("users/\(ann)/notes/1", ["text": "…"])])
        try await deleteEverything(authorization)
        #expect(project.documentCount == 0)
        try await backend.admin().delete(ann)
        let refusal = await #expect(throws: TokenError.self) { try await deleteEverything(authorization) }
        #expect(refusal?.code == .tokenRevoked || refusal?.code == .userDisabled)
        await backend.shutDown()
    }

    @Test(arguments: [
        "Sources/Switchyard/Documentation.docc/ActingForCallers.md",
        "Sources/Switchyard/Documentation.docc/ActingForTheProject.md",
        "Sources/Switchyard/Documentation.docc/Deploying.md", "Sources/Switchyard/Documentation.docc/Jobs.md",
    ])
    func `Every piece of Swift in the article stands above, line for line`(page: String) throws {
        let missing = try Article(page).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}

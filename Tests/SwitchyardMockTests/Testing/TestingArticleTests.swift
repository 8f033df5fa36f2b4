import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// What the article on testing says, done.
@Suite struct TestingArticleTests {
    @Test func `Everything in the article works as it says`() async throws {
        let backend = MockBackend()  // or MockBackend(rules: .ownersOnly)
        let network = MockNetwork()
        let storage = MockStorageClient(backend, network: network)
        let tablet = MockStorageClient(backend)
        try backend.seed([("users/alice", ["name": "Alice"])])

        storage.controls.answer(.document, with: .existing("users/bob", ["name": "Bob"]))
        storage.controls.fail(.commit, onCall: 2, with: StorageError(.unauthorized, "Refused."))
        storage.controls.failAny(onCall: 5, times: 3, with: StorageError(.unavailable, "Down."))
        #expect(try await storage.document("users/bob")["name"] == "Bob")
        #expect(try await !storage.document("users/bob").exists)
        storage.controls.reset()

        let guarded = MockBackend(rules: .ownersOnly)
        try guarded.seed([("users/bob", ["name": "Bob"])])
        let alice = try await guarded.infrastructure(signedInAs: "alice")
        do throws(StorageError) {
            _ = try await alice.storage.document("users/bob")
            Issue.record("it was not refused")
        } catch {
            #expect("The mock's rules do not allow reading “users/bob” as “alice”." == error.message)
            print(error.message)  // The mock's rules do not allow reading “users/bob” as “alice”.
        }

        storage.controls.fail(.send, with: .unauthorized)
        try await storage.mergeDocument("users/alice", ["mood": "fine"])  // online, so it never waits
        let left = storage.controls.unused  // ["fail(send)"]
        #expect(left == ["fail(send)"])
        storage.controls.reset()

        storage.controls.loseAnswers()
        let receipt = try await storage.updateDocument("users/alice", ["visits": .increment(1)])
        try await receipt.acknowledged()
        let visits = try await tablet.document("users/alice")["visits"]
        #expect(visits == 1)

        network.latency = .milliseconds(80)
        network.isOnline = false
        let cached = try await storage.document("users/alice")
        try await storage.mergeDocument("users/alice", ["mood": "fine"])
        network.isOnline = true
        try await storage.waitForPendingWrites()
        #expect(cached["name"] == "Alice" && cached.metadata.isFromCache)
        #expect(try await tablet.document("users/alice")["mood"] == "fine")
        network.latency = .zero

        storage.controls.isRecording = true
        try await storage.deleteDocument("users/bob")
        let calls = storage.controls.calls.map(\.description)  // ["commit delete users/bob"]
        #expect(calls == ["commit delete users/bob"])

        try await MockAuthClient(backend).signUp(email: "alice@example.com", password: "secret")
        let auth = MockAuthClient(backend, network: network)
        try await auth.sendPasswordReset(to: "alice@example.com")
        let code = backend.accounts.mail(.passwordReset, to: "alice@example.com")?.code
        #expect(code != nil)

        backend.accounts.asksForConfirmation = true
        try await auth.signUp(email: "carol@example.com", password: "long enough")  // confirmationSent
        let link = backend.accounts.mail(.addressConfirmation, to: "carol@example.com")?.link
        #expect(link != nil)
        await #expect(throws: AuthError.self) {
            try await auth.signIn(email: "carol@example.com", password: "long enough")
        }
        backend.accounts.confirmEmail("carol@example.com")  // what opening the link would do
        try await auth.signIn(email: "carol@example.com", password: "long enough")

        let sample = MockBackend.sample()
        let preview = CoreClients(
            auth: PreviewAuthClient(sample), storage: PreviewStorageClient(sample),
            files: PreviewFileStorageClient(sample))
        #expect(try await DocumentUserClient(on: preview).currentUser().id == MockSample.userID)
    }

    @Test func `Two modules on a project are two devices of it`() async throws {
        let backend = try await Infrastructure(.mock)  // a new project
        let project = MockBackend()
        let phone = try await Infrastructure(.mock(project))  // two devices of one project
        let tablet = try await Infrastructure(.mock(project))
        try await phone.storage.setDocument("notes/1", ["text": "…"])
        #expect(try await tablet.storage.document("notes/1").exists)
        #expect(try await !backend.storage.document("notes/1").exists)
    }

    @Test func `Every piece of Swift in the module's page stands above, line for line`() throws {
        let missing = try Article("Plugins/SwitchyardMock/Documentation.docc/SwitchyardMock.md").missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }

    @Test func `Every piece of Swift in the article stands above, line for line`() throws {
        let article = try Article("Plugins/SwitchyardMock/Documentation.docc/TestingWithTheMock.md")
        #expect(article.blocks(of: "swift").count == 10)
        let missing = try article.missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}

import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardObservation
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

struct Todo: Codable, Sendable, Identifiable {
    @DocumentID var id: String
    var title: String
    var done = false
}

extension ClientError {
    /// What the screen says; `message` is for the log.
    var explanation: String {
        switch code {
        case .unauthorized: "You may not change this list."
        case .resourceExhausted: "There is too much going on. Try again later."
        default: "This could not be saved."
        }
    }
}

@MainActor final class TodoModel {
    let todos: TypedCollection<Todo>
    let open: LiveQuery<Todo>
    private(set) var problem: String?

    init(_ backend: Infrastructure, of userID: AuthUser.ID) {
        todos = backend.storage.collection("users/\(userID)/todos", of: Todo.self)
        open = LiveQuery(todos.where(\.done, .equal, false))
    }

    func add(_ title: String) async {
        problem = nil
        do throws(StorageError) {
            try await todos.add(Todo(title: title))
        } catch {
            report(error)
        }
    }

    /// What the server refuses later, when no one waits for it any more: run it as long as the screen is there.
    func watchRefusals() async {
        do throws(StorageError) {
            for try await refused in todos.storage.refusedWrites() where !refused.isEmpty {
                if let error = refused.last?.error { report(error) }
            }
        } catch {
            report(error)
        }
    }

    private func report(_ error: StorageError) {
        print(error.message)
        problem = error.explanation
    }
}

/// What the article on testing an app says, done.
@Suite struct TestingArticleTests {
    @Test func `An app is tested as the article says`() async throws {
        let project = MockBackend(rules: .ownersOnly)
        let network = MockNetwork()
        let phone = try await project.infrastructure(signedInAs: "alice", network: network)
        let model = await TodoModel(phone, of: "alice")
        await model.add("Milk")
        #expect(await model.problem == nil)

        let server = MockStorageClient(project)
        let stored = try await server.documents(Query(in: "users/alice/todos")).count
        #expect(stored == 1)

        network.isOnline = false
        await model.add("Bread")  // shows at once
        while await model.open.rows.count < 2 { await Task.yield() }
        let isSaving = await model.open.hasPendingWrites
        network.isOnline = true
        try await phone.storage.waitForPendingWrites()
        #expect(isSaving && project.documentCount == 2)

        phone.storage.mock?.controls.fail(.commit, with: .resourceExhausted)
        await model.add("Eggs")
        let problem = await model.problem  // says so
        #expect(problem == "There is too much going on. Try again later.")

        let watching = Task { await model.watchRefusals() }
        network.isOnline = false
        phone.storage.mock?.controls.fail(.send, with: .unauthorized)
        await model.add("Butter")  // shows at once
        network.isOnline = true
        while await model.problem == nil { await Task.yield() }  // undone, and says why
        let left = phone.storage.mock?.controls.unused  // empty: every script has had its turn
        watching.cancel()
        #expect(left?.isEmpty == true)
        #expect(await model.problem == "You may not change this list.")
        #expect(project.documentCount == 2)

        let users = StubUserClient(currentUser: { UserModel(id: "ada", displayName: "Ada") })
        let name = try await users.currentUser().displayName
        #expect(name == "Ada")

        let unset = UnsetClients.stubs { Issue.record("\($0)") }  // in XCTest: { XCTFail($0) }
        let contacts = StubContactsClient(over: unset.contacts) { $0.remove = { _ in } }
        let readOnly = StubStorageClient(over: phone.storage) {
            $0.commit = { _ in throw StorageError(.unauthorized, "Nothing may be written.") }
        }
        try await contacts.remove("bob")
        let refusal = await #expect(throws: StorageError.self) { try await readOnly.setDocument("a/1", ["n": 1]) }
        #expect(refusal?.code == .unauthorized)
        await withKnownIssue { _ = try? await contacts.contacts() }

        let strict = MockBackend(
            rules: MockRules { request in
                guard let userID = request.userID else { return false }
                let members = request.document("teams/\(request.path.segments[1])")?["members"]?.arrayValue ?? []
                return members.contains(.string(userID)) && request.access != .delete
            })
        let bob = try await strict.infrastructure(signedInAs: "bob")
        try strict.seed([("teams/a", ["members": ["bob"]]), ("teams/b", ["members": ["alice"]])])
        #expect(try await bob.storage.document("teams/a").exists)
        await #expect(throws: StorageError.self) { try await bob.storage.document("teams/b") }

        let moment = Timestamp(Date(timeIntervalSince1970: 1_800_000_000))
        let dated = MockBackend(now: { moment })
        let slow = MockNetwork(clock: ContinuousClock(), latency: .milliseconds(80))
        let tablet = try await dated.infrastructure(network: slow)
        try await tablet.storage.setDocument("a/1", ["n": 1])
        #expect(try await tablet.storage.document("a/1").updateTime == moment)

        let sample = try await Infrastructure(.mock(.sample()))
        #expect(try await sample.storage.document("users/bob").exists)
    }

    @Test func `A local Firebase is there for a test`() async throws {
        let firebase = try LocalFirebase()  // free ports of this machine
        let here = FirebaseConfiguration.Emulators(
            firestore: firebase.host, auth: firebase.host, storage: firebase.host)
        let onFirebase = try await Infrastructure(
            .firebase(project: firebase.project, apiKey: "any") { $0.emulators = here })
        let user = try await onFirebase.auth.signUp(email: "alice@example.com", password: "secret words").get()
        #expect(!user.id.isEmpty)
        await onFirebase.shutDown()
        await firebase.stop()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `A local Supabase is there for a test`() async throws {
        var options = LocalSupabaseOptions()
        options.scripts = [DocumentSchema.sql]  // the document functions; add your own tables and policies
        options.buckets = ["files"]
        let supabase = try await LocalSupabase(options)
        let there = SupabaseConfiguration(
            url: supabase.url.absoluteString, key: Secret(supabase.anonKey), bucket: "files")
        let onSupabase = try await Infrastructure(.supabase(there))
        try await onSupabase.auth.signUp(email: "alice@example.com", password: "secret words")
        #expect(try await onSupabase.storage.documents(Query(in: "posts")).isEmpty)
        await onSupabase.shutDown()
        await supabase.stop()
    }

    @Test func `Every piece of Swift in the article stands above, line for line`() throws {
        let article = try Article("Plugins/SwitchyardMock/Documentation.docc/TestingYourApp.md")
        #expect(article.blocks(of: "swift").count == 12)
        let missing = try article.missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}

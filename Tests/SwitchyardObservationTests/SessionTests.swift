import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Testing

/// The list of the article.
@MainActor private final class Lists {
    let session: Session
    private let storage: any StorageClient
    private var present: (owner: AuthUser.ID, query: LiveQuery<Todo>)?

    init(_ backend: Infrastructure) {
        session = Session(backend.auth)
        storage = backend.storage
    }

    /// `nil` while no user is signed in.
    var todos: LiveQuery<Todo>? {
        let owner = session.user?.id
        if let present, present.owner == owner { return present.query }
        present = owner.map { id in
            let todos = storage.collection("users").document(id).collection("todos", of: Todo.self)
            return (owner: id, query: LiveQuery(todos))
        }
        return present?.query
    }
}

@MainActor @Suite struct SessionTests {
    @Test func `A list is that of whoever is signed in, and shows nothing of the person before`() async throws {
        let backend = try await Infrastructure(.mock)
        let lists = Lists(backend)
        #expect(lists.todos == nil)
        let ann = try await backend.auth.signUp(email: "ann@example.com", password: "long enough").get()
        let anns = backend.storage.collection("users").document(ann.id).collection("todos", of: Todo.self)
        try await anns.document("a").set(Todo(title: "a"))
        try await eventually("hers") { lists.todos?.values.map(\.title) == ["a"] }
        let hers = try #require(lists.todos)
        #expect(lists.todos === hers)
        try await backend.auth.signOut()
        try await eventually("no one's") { lists.todos == nil }
        try await backend.auth.signUp(email: "bob@example.com", password: "long enough")
        try await eventually("his") { lists.todos?.phase.isLoading == false }
        #expect(lists.todos !== hers && lists.todos?.rows.isEmpty == true)
        await backend.shutDown()
    }

    @Test func `A session follows sign-up, sign-out and sign-in, and says why one fails`() async throws {
        let session = Session(MockAuthClient(MockBackend()))
        try await eventually("signed out") { if case .signedOut = session.state { true } else { false } }
        #expect(await session.signUp(email: "ann@example.com", password: "long enough"))
        #expect(session.isSignedIn && session.user?.email == "ann@example.com" && !session.isWorking)
        #expect(await session.signOut())
        #expect(!session.isSignedIn)
        #expect(await !session.signIn(email: "ann@example.com", password: "wrong"))
        #expect(session.error?.code == .invalidCredential)
        #expect(await session.signIn(email: "ann@example.com", password: "long enough"))
        #expect(session.error == nil && session.isSignedIn)
    }

    @Test func `Signing up where addresses are confirmed says where the mail went, until the next try`() async throws {
        let backend = MockBackend()
        backend.accounts.asksForConfirmation = true
        let session = Session(MockAuthClient(backend))
        #expect(await session.signUp(email: "ann@example.com", password: "long enough"))
        #expect(session.confirmationSentTo == "ann@example.com" && !session.isSignedIn && session.error == nil)
        #expect(await session.resendConfirmation())
        #expect(session.confirmationSentTo == "ann@example.com" && backend.accounts.mails.count == 2)
        #expect(await !session.signIn(email: "ann@example.com", password: "long enough"))
        #expect(session.error?.code == .emailNotConfirmed && session.confirmationSentTo == nil)
        let link = try #require(backend.accounts.mails.last?.link)
        #expect(await session.signIn(with: .emailLink(email: "ann@example.com", link)))
        #expect(session.user?.isEmailVerified == true)
    }

    @Test func `What happens elsewhere is seen too`() async throws {
        let auth = MockAuthClient(MockBackend())
        let session = Session(auth)
        try await eventually("signed out") { if case .signedOut = session.state { true } else { false } }
        try await auth.signUp(email: "ann@example.com", password: "long enough")
        try await eventually("the user") { session.isSignedIn }
    }
}

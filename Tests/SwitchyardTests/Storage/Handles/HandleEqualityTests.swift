import Switchyard
import SwitchyardMock
import Testing

/// Handles, queries and snapshots in the state of a screen: equal by client, place and type.
@Suite struct HandleEqualityTests {
    private struct Todo: Codable, Sendable {
        var title: String
        var done = false
    }

    /// The state of a feature, which is `Equatable` without code although `Todo` is not.
    private struct Feature: Equatable {
        var query: TypedQuery<Todo>
        var shown: TypedSnapshot<Todo>?
        var selected: TypedDocument<Todo>?
        var row: TypedSnapshot<Todo>.Row?
        var error: StorageError?
    }

    private let storage = MockStorageClient()
    private let other = MockStorageClient()

    @Test func `Handles are equal if they name the same place of the same client`() {
        let (todos, theirs) = (storage.collection("todos"), other.collection("todos"))
        #expect(todos == storage.collection("todos") && todos != storage.collection("notes") && todos != theirs)
        #expect(todos.document("a") == todos.document("a") && todos.document("a") != theirs.document("a"))
        #expect(Set([todos.document("a"), todos.document("a"), theirs.document("a")]).count == 2)
        let open = todos.where("done", .equal, false)
        #expect(open == todos.where("done", .equal, false) && open != todos.where("done", .equal, true))
        #expect(open != theirs.where("done", .equal, false))
    }

    @Test func `So are typed ones`() {
        let (todos, theirs) = (storage.collection("todos", of: Todo.self), other.collection("todos", of: Todo.self))
        #expect(todos == storage.collection("todos", of: Todo.self) && todos != theirs)
        #expect(todos.document("a") == todos.document("a") && todos.document("a") != theirs.document("a"))
        let open = todos.where(\.done, .equal, false).limited(to: 3)
        #expect(open == todos.where(\.done, .equal, false).limited(to: 3))
        #expect(open != todos.where(\.done, .equal, false).limited(to: 4))
        #expect(open != theirs.where(\.done, .equal, false).limited(to: 3))
        #expect(Set([todos.typed, todos.typed, theirs.typed]).count == 2)
    }

    @Test func `A wrapper is the client that it wraps, and a value without an identity is like all of its type`() {
        struct Plain: StorageClientWrapper {
            let base: any StorageClient
        }
        let wrapped = Plain(base: storage).collection("todos")
        #expect(wrapped == storage.collection("todos") && wrapped != Plain(base: other).collection("todos"))
        #expect(storage.retrying().collection("todos") == storage.collection("todos"))
        #expect(storage.identity != other.identity)
    }

    @Test func `Handles of an infrastructure stay equal when its provider is switched`() async throws {
        let backend = try await Infrastructure(.mock)
        let before = backend.storage.collection("todos")
        try await backend.use(await backend.selection)
        #expect(backend.storage.collection("todos") == before)
        let another = try await Infrastructure(.mock)
        #expect(another.storage.collection("todos") != before)
        await backend.shutDown()
        await another.shutDown()
    }

    @Test func `Snapshots are equal if they show the same, and differ by a document, the metadata or the client`()
        async throws
    {
        let todos = storage.collection("todos", of: Todo.self)
        try await todos.document("a").set(Todo(title: "Milk"))
        let first = try await todos.documents()
        #expect(try await todos.documents() == first)
        var feature = Feature(query: todos.typed, shown: first, row: first.rows[0])
        let same = feature
        #expect(feature == same)
        feature.error = StorageError(.unavailable, "Text.")
        #expect(feature != same)
        try await todos.document("a").update(\.done, to: true)
        let second = try await todos.documents()
        #expect(second != first && second.rows[0] != first.rows[0])
        #expect(try await todos.where(\.done, .equal, true).documents() != second)
        let cached = try await todos.documents(from: .cache)
        #expect(cached != second && cached.map(\.title) == second.map(\.title))
    }

    @Test func `A typed document's snapshot counts why the server is not reached`() async throws {
        struct Failing: StorageClientWrapper {
            let base: any StorageClient
            let error: StorageError?
            func snapshots(
                of path: StoragePath, options: ListenOptions
            ) -> SnapshotStream<DocumentSnapshot, StorageError> {
                .just(.existing(path, ["title": "a", "done": false], metadata: SnapshotMetadata(serverError: error)))
            }
        }
        func shown(_ error: StorageError?) async throws -> TypedDocumentSnapshot<Todo>? {
            let document = Failing(base: storage, error: error).collection("todos", of: Todo.self).document("a")
            for try await snapshot in document.stream() { return snapshot }
            return nil
        }
        let error = StorageError(.unavailable, "No network.")
        #expect(try await shown(error) == shown(error))
        #expect(try await shown(error) != shown(nil))
        #expect(try await shown(error) != shown(StorageError(.unauthorized, "A refused key.")))
    }
}

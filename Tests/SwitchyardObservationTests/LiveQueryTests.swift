import Observation
import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Synchronization
import Testing

struct Todo: Codable, Sendable, Equatable {
    var title: String
    var done = false
}

@MainActor @Suite struct LiveQueryTests {
    private let backend = MockBackend()
    private let network = MockNetwork()
    private var storage: MockStorageClient
    private var todos: TypedCollection<Todo> { storage.collection("todos", of: Todo.self) }

    init() { storage = MockStorageClient(backend, network: network) }

    private func add(_ titles: String...) async throws {
        for title in titles { try await todos.document(title).set(Todo(title: title)) }
    }

    @Test func `Rows come by themselves, and change with the documents`() async throws {
        try await add("a", "b")
        let live = LiveQuery(todos.ordered(by: \.title))
        #expect(live.phase.isLoading && live.rows.isEmpty)
        try await eventually("the first results") { live.values.map(\.title) == ["a", "b"] }
        guard case .live = live.phase else {
            Issue.record("It is \(live.phase).")
            return
        }
        try await add("c")
        try await eventually("the change") { live.values.map(\.title) == ["a", "b", "c"] }
        #expect(live.changes.map(\.document.id) == ["c"])
    }

    @Test func `When the server signs the user out, it says so, and refuses further edits`() async throws {
        let auth = try await MockModule(backend: backend).makeAuthClient(ModuleContext())
        let storage = try await MockModule(backend: backend).makeStorageClient(ModuleContext(auth: auth))
        try await auth.signUp(email: "alice@example.com", password: "secret7")
        let user = try #require(await auth.currentUser)
        let todos = storage.collection("todos", of: Todo.self)
        try await todos.document("a").set(Todo(title: "a")).acknowledged()
        let live = LiveQuery(todos)
        let one = LiveDocument(todos.document("a"))
        try await eventually("the rows") { live.rows.count == 1 && one.value != nil }
        backend.accounts.setDisabled(true, user.id)
        await #expect(throws: AuthError.self) { try await auth.accessToken(refreshing: true) }
        try await eventually("both say so") {
            live.phase.error?.code == .unauthenticated && one.phase.error?.code == .unauthenticated
        }
        #expect(live.phase.error?.message.contains("The server has ended the session") == true)
        await live.update(live.rows[0], \.done, to: true).value
        await one.update(\.done, to: true).value
        await live.delete(live.rows[0]).value
        #expect(live.editError?.code == .unauthenticated && one.editError?.code == .unauthenticated)
        #expect(try await storage.document("todos/a")["done"] == false)
        await storage.shutDown()
        await auth.shutDown()
    }

    @Test func `Nothing is requested before the first read, and the stream ends with the object`() async throws {
        var live: LiveQuery? = LiveQuery(todos)
        #expect(storage.listenerCount == 0)
        _ = live?.rows
        try await eventually("the stream is open") { storage.listenerCount == 1 }
        live = nil
        try await eventually("it has ended") { storage.listenerCount == 0 }
    }

    @Test func `Observers are notified of a change`() async throws {
        let live = LiveQuery(todos)
        try await eventually("the empty result") { !live.phase.isLoading }
        let isDelivered = Mutex(false)
        withObservationTracking {
            _ = live.rows
        } onChange: {
            isDelivered.withLock { $0 = true }
        }
        try await add("a")
        try await eventually("the change is delivered") { isDelivered.withLock { $0 } }
    }

    @Test func `A local write is shown at once, as pending, and then as confirmed`() async throws {
        let live = LiveQuery(todos)
        try await eventually("the empty result") { !live.phase.isLoading }
        network.isOnline = false
        try await add("a")
        try await eventually("the pending row") { live.rows.first?.isPending == true }
        #expect(live.hasPendingWrites)
        network.isOnline = true
        try await eventually("the confirmed row") { live.rows.first?.isPending == false }
        #expect(!live.hasPendingWrites)
    }

    @Test func `A page at a time, as one scrolls`() async throws {
        for number in 10..<30 { try await add("t\(number)") }
        let live = LiveQuery(todos.ordered(by: \.title), pageSize: 8)
        try await eventually("the first page") { live.rows.count == 8 && live.hasMore }
        live.appeared(live.rows[0])
        live.appeared(live.rows[7])
        try await eventually("two pages") { live.rows.count == 16 && live.hasMore }
        live.loadMore()
        try await eventually("all of them") { live.rows.count == 20 && !live.hasMore }
        live.loadMore()
        #expect(live.values.map(\.title) == (10..<30).map { "t\($0)" })
    }

    @Test func `Pages end at the query's own limit`() async throws {
        for number in 10..<30 { try await add("t\(number)") }
        let live = LiveQuery(todos.ordered(by: \.title).limited(to: 10), pageSize: 8)
        try await eventually("the first page") { live.rows.count == 8 && live.hasMore }
        live.loadMore()
        try await eventually("all that the query asks for") { live.rows.count == 10 && !live.hasMore }
        let short = LiveQuery(todos.ordered(by: \.title).limited(to: 5), pageSize: 8)
        try await eventually("fewer than a page") { short.rows.count == 5 && !short.hasMore }
    }

    @Test func `Pages of the last results begin at the end, and go back from there`() async throws {
        for number in 10..<30 { try await add("t\(number)") }
        let live = LiveQuery(todos.ordered(by: \.title).limited(toLast: 12), pageSize: 5)
        try await eventually("the last page") { live.rows.count == 5 && live.hasMore }
        #expect(live.values.map(\.title) == (25..<30).map { "t\($0)" })
        live.appeared(live.rows[4])
        live.appeared(live.rows[0])
        try await eventually("two pages") { live.rows.count == 10 && live.hasMore }
        live.loadMore()
        try await eventually("all that the query asks for") { live.rows.count == 12 && !live.hasMore }
        #expect(live.values.map(\.title) == (18..<30).map { "t\($0)" })
    }

    @Test func `A page of which most does not fit is followed by the next one`() async throws {
        for number in 10..<20 { try await add("t\(number)") }
        for path in ["todos/t11", "todos/t12", "todos/t13"] as [StoragePath] {
            try await storage.updateDocument(path, ["done": "no"])
        }
        let live = LiveQuery(todos.ordered(by: \.title), pageSize: 4)
        try await eventually("the first page") { live.mismatches.count == 3 && live.hasMore }
        live.loadMore()
        try await eventually("two pages") { live.rows.count == 6 && live.hasMore }
        live.loadMore()
        try await eventually("all of them") { live.rows.count == 7 && !live.hasMore }
    }

    @Test func `One document that does not fit is left out, and said`() async throws {
        try await add("a")
        try await storage.setDocument("todos/bad", ["title": 7])
        let live = LiveQuery(todos)
        try await eventually("the one that fits") { live.values.map(\.title) == ["a"] }
        #expect(live.mismatches.map(\.code) == [.codingFailed])
    }

    @Test func `A failure is shown, keeps the rows, and can be tried again`() async throws {
        try await add("a")
        storage.controls.fail(.queryStream, with: StorageError(.unauthorized, "Not yours."))
        let live = LiveQuery(todos)
        try await eventually("the failure") { live.phase.error?.code == .unauthorized }
        live.retry()
        try await eventually("the results") { live.values.map(\.title) == ["a"] }
        #expect(live.phase.error == nil)
    }

    @Test func `Another query takes its place`() async throws {
        try await add("a", "b")
        try await todos.document("b").update(\.done, to: true)
        let live = LiveQuery(todos.where(\.done, .equal, false))
        try await eventually("what is open") { live.values.map(\.title) == ["a"] }
        live.show(todos.where(\.done, .equal, true))
        try await eventually("what is done") { live.values.map(\.title) == ["b"] }
    }

    @Test func `A row is edited in place: it shows at once, and is pending until the server has it`() async throws {
        try await add("a")
        let live = LiveQuery(todos)
        try await eventually("the row") { live.rows.count == 1 }
        network.isOnline = false
        let edit = try #require(live.rows.first).edit(\.done, to: true)
        try await eventually("the edit, pending") { live.rows.first?.value.done == true && live.rows[0].isPending }
        network.isOnline = true
        await edit.value
        try await eventually("the edit, confirmed") { live.rows.first?.isPending == false }
        await live.delete(live.rows[0]).value
        try await eventually("the deletion") { live.rows.isEmpty }
        #expect(live.editError == nil)
    }

    @Test func `An edit of a row that is refused is undone, and says why`() async throws {
        try await add("a")
        let live = LiveQuery(todos)
        try await eventually("the row") { live.rows.count == 1 }
        let row = live.rows[0]
        try await todos.document("a").delete()
        try await eventually("the deletion") { live.rows.isEmpty }
        let failureCode = Mutex<StorageError.Code?>(nil)
        await row.edit(\.done, to: true) { error in failureCode.withLock { $0 = error.code } }.value
        #expect(failureCode.withLock { $0 } == .notFound)
        await live.update(row, \.done, to: true).value
        #expect(live.editError?.code == .notFound && live.rows.isEmpty)
    }

    /// Applies changes as an animation does.
    private func applying(_ changes: [DocumentChange], to rows: [StoragePath]) -> [StoragePath] {
        changes.reduce(into: rows) { rows, change in
            if let index = change.oldIndex { rows.remove(at: index) }
            if let index = change.newIndex { rows.insert(change.document.path, at: index) }
        }
    }

    /// Every state that a live query has had.
    @MainActor private final class States {
        private(set) var all: [(rows: [StoragePath], changes: [DocumentChange])] = []

        func note(_ live: LiveQuery<Todo>) {
            if !live.phase.isLoading { all.append((live.rows.map(\.id), live.changes)) }
        }

        /// Notes each state just before the next one takes its place.
        func watch(_ live: LiveQuery<Todo>) {
            withObservationTracking {
                _ = live.rows
            } onChange: { [self] in
                MainActor.assumeIsolated {
                    note(live)
                    watch(live)
                }
            }
        }
    }

    @Test func `Changes lead from the rows of before to those of now, page after page, without what does not fit`()
        async throws
    {
        for number in 10..<30 { try await add("t\(number)") }
        try await storage.setDocument("todos/t12", ["title": 12])
        let live = LiveQuery(todos.ordered(by: \.title), pageSize: 8)
        let states = States()
        states.watch(live)
        try await eventually("the first page") { live.rows.count >= 7 && live.hasMore }
        live.loadMore()
        try await eventually("one more page") { live.rows.count >= 15 }
        try await add("t145")
        try await eventually("one in the middle") { live.values.contains { $0.title == "t145" } }
        try await todos.document("t145").set(Todo(title: "t00"))
        try await eventually("one that moves to the front") { live.values.first?.title == "t00" }
        try await todos.document("t11").delete()
        try await eventually("one less") { !live.values.contains { $0.title == "t11" } }
        live.retry()
        try await eventually("the same once more") { !live.phase.isLoading }
        live.show(todos.ordered(by: \.title, .descending))
        try await eventually("the other way round") { live.values.first?.title == "t29" }
        states.note(live)

        #expect(states.all.count >= 7)
        #expect(!states.all.contains { $0.rows.contains("todos/t12") })
        var shown: [StoragePath] = []
        for state in states.all {
            shown = applying(state.changes, to: shown)
            #expect(shown == state.rows)
        }
    }
}

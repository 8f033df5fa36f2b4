import Observation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardObservation

@MainActor @Suite struct LivePropertyTests {
    private static let todos = CollectionPath("todos").of(Todo.self)

    @MainActor @Observable final class Model {
        @ObservationIgnored @Live var open: [LiveQuery<Todo>.Row]
        @ObservationIgnored @LiveCount<Todo> var all: Int
        @ObservationIgnored @LiveValue var first: Todo?

        init(_ backend: Infrastructure) {
            _open = Live(LivePropertyTests.todos.where { !$0.done }.ordered(by: \.title), in: backend)
            _all = LiveCount(LivePropertyTests.todos, in: backend)
            _first = LiveValue(StoragePath("todos/a").of(Todo.self), in: backend)
        }

        var titles: [String] { open.map(\.value.title) }
        var query: LiveQuery<Todo> { $open }
        var document: LiveDocument<Todo> { $first }
    }

    private func backend(_ titles: String...) async throws -> Infrastructure {
        let backend = try await Infrastructure(.mock)
        for title in titles {
            try await backend.storage.collection("todos", of: Todo.self).document(title).set(Todo(title: title))
        }
        return backend
    }

    @Test func `A model has rows, a count and a value, and its readers observe them`() async throws {
        let backend = try await backend("a", "b")
        let model = Model(backend)
        try await eventually("all three") { model.titles == ["a", "b"] && model.all == 2 && model.first?.title == "a" }
        #expect(model.query.error == nil && !model.query.isFromCache && !model.document.isFromCache)
        let isDelivered = Mutex(false)
        withObservationTracking {
            _ = model.titles
        } onChange: {
            isDelivered.withLock { $0 = true }
        }
        await model.query.update(model.open[0], \.done, to: true).value
        try await eventually("the change") { model.titles == ["b"] && model.all == 2 && model.first?.done == true }
        #expect(isDelivered.withLock { $0 })
        await backend.shutDown()
    }

    @Test func `Without a backend the error says so, and the rows come once there is one`() async throws {
        let live = LiveQuery(Self.todos)
        let document = LiveDocument(StoragePath("todos/a").of(Todo.self))
        try await eventually("the error") { live.error != nil && document.error != nil }
        #expect(live.error?.code == .clientNotSet && document.error?.code == .clientNotSet)
        #expect(live.error?.message.contains("there is no backend") == true)
        let backend = try await backend("a")
        live.connect(to: backend)
        document.connect(to: backend)
        try await eventually("the rows") { live.values.map(\.title) == ["a"] && document.value?.title == "a" }
        #expect(live.error == nil && document.error == nil)
        await backend.shutDown()
    }

    @Test func `Another backend takes the place of the first, and its rows leave at once`() async throws {
        let (first, second) = (try await backend("a", "b"), try await backend("c"))
        let live = LiveQuery(Self.todos)
        live.connect(to: first)
        try await eventually("the first one's rows") { live.rows.count == 2 }
        live.connect(to: first)
        #expect(live.rows.count == 2)
        live.connect(to: second)
        #expect(live.rows.isEmpty && live.phase.isLoading)
        #expect(live.changes.map(\.oldIndex) == [1, 0] && live.changes.allSatisfy { $0.kind == .removed })
        try await eventually("the second one's rows") { live.values.map(\.title) == ["c"] }
        await first.shutDown()
        await second.shutDown()
    }

    @Test func `Nothing is followed before the first read, connected or not`() async throws {
        let storage = MockStorageClient()
        let live = LiveQuery(Self.todos)
        live.connect(to: storage)
        #expect(storage.listenerCount == 0)
        _ = live.rows
        try await eventually("the stream is open") { storage.listenerCount == 1 }
    }

    @Test func `A view that is made again keeps what it follows, and changes it with its declaration`() async throws {
        let backend = try await backend("a", "b")
        let open = Self.todos.where { !$0.done }
        let done = Self.todos.where { $0.done }
        try await backend.storage.collection("todos", of: Todo.self).document("b").update(\.done, to: true)
        let installed = Kept<LiveQuery<Todo>>.Installed(source: LiveQuery(open), target: open)
        let live = installed.declare(open, in: backend)
        try await eventually("what is open") { live.values.map(\.title) == ["a"] }
        live.show(Self.todos)
        try await eventually("all") { live.values.count == 2 }
        #expect(installed.declare(open, in: backend) === live && live.values.count == 2)
        #expect(installed.declare(done, in: backend) === live)
        try await eventually("what is done") { live.values.map(\.title) == ["b"] }
        await backend.shutDown()
    }

    @Test func `Rows fall into sections in the order of their first rows`() async throws {
        let backend = try await backend("a1", "b1", "a2", "c1", "b2")
        let live = LiveQuery(Self.todos.ordered(by: \.title, .descending).in(backend.storage))
        try await eventually("the rows") { live.rows.count == 5 }
        let sections = live.sections { $0.title.first }
        #expect(sections.map(\.id) == ["c", "b", "a"])
        #expect(sections.map { $0.rows.map(\.value.title) } == [["c1"], ["b2", "b1"], ["a2", "a1"]])
        #expect(live.sections(by: \.done).map(\.id) == [false])
        await backend.shutDown()
    }

    @Test func `A refresh tells whether the server has answered, and starts over after a failure`() async throws {
        let network = MockNetwork()
        let storage = MockStorageClient(MockBackend(), network: network)
        try await storage.setDocument("todos/a", ["title": "a", "done": false])
        storage.controls.fail(.queryStream, with: StorageError(.unauthorized, "Not yours."))
        let live = LiveQuery(Self.todos.in(storage))
        try await eventually("the failure") { live.error?.code == .unauthorized }
        #expect(await live.refresh())
        try await eventually("the rows") { live.values.map(\.title) == ["a"] && live.error == nil }
        network.isOnline = false
        #expect(await live.refresh() == false)
        #expect(live.values.map(\.title) == ["a"])
        try await eventually("the cache") { live.isFromCache }
    }

    @Test func `A document that is added shows up where it fits, and one for a collection group is refused`()
        async throws
    {
        let backend = try await backend("a")
        let live = LiveQuery(Self.todos.where { $0.done == false }.in(backend.storage))
        try await eventually("the rows") { live.rows.count == 1 }
        await live.add(Todo(title: "b", done: false)).value
        await live.add(Todo(title: "c", done: true)).value
        try await eventually("the one that fits") { live.values.map(\.title).sorted() == ["a", "b"] }
        #expect(try await backend.storage.count(Query(in: "todos")) == 3)

        let group = LiveQuery(backend.storage.collectionGroup("todos", of: Todo.self))
        await group.add(Todo(title: "d", done: false)).value
        #expect(group.editError?.code == .invalidArgument)
        await backend.shutDown()
    }

    @Test func `A document is asked for again, and the answer tells whether there was one`() async throws {
        let network = MockNetwork()
        let storage = MockStorageClient(MockBackend(), network: network)
        try await storage.setDocument("todos/a", ["title": "a", "done": false])
        let live = LiveDocument(StoragePath("todos/a").of(Todo.self).in(storage))
        try await eventually("the document") { live.value?.title == "a" }
        #expect(await live.refresh())
        network.isOnline = false
        #expect(await live.refresh() == false)
        #expect(live.value?.title == "a")
    }

    @Test func `Each change of the rows is made within what shows it`() async throws {
        let backend = try await backend("a")
        let live = LiveQuery(Self.todos.in(backend.storage))
        var before: [Int] = []
        live.apply = { [unowned live] change in
            before.append(live.rows.count)
            change()
        }
        try await eventually("the row") { live.rows.count == 1 }
        #expect(before.first == 0)
        await backend.shutDown()
    }
}

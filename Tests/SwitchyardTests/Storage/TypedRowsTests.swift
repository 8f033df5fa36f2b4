import Foundation
import Switchyard
import SwitchyardMock
import Synchronization
import Testing

/// Names of documents in values, pages and rows of typed lists, and documents that do not fit.
@Suite struct TypedRowsTests {
    struct Todo: Codable, Equatable, Sendable, Identifiable {
        @DocumentID var id: String
        var title: String
        var done = false
        @ServerTimestamp var created: Date?
    }

    struct Place: Codable, Equatable {
        @DocumentID var path: StoragePath
        @DocumentID var id: String = ""
        var name: String
    }

    private let storage = MockStorageClient()
    private var todos: TypedCollection<Todo> { storage.collection("todos", of: Todo.self) }

    // MARK: Names

    @Test func `A value is made without an id, and gets one from its document`() async throws {
        let milk = Todo(title: "Milk")
        #expect(milk.id.isEmpty)
        let document = try await todos.add(milk)
        #expect(!document.id.isEmpty)
        let read = try #require(try await document.get())
        #expect(read.id == document.id && read.title == "Milk" && read.created != nil)
        #expect(try await storage.document(document.path).data?["id"] == nil)
        #expect(Todo(id: "a", title: "x").id == "a")
        let name = "b"
        #expect(Todo(id: DocumentID(name), title: "x").id == "b")
    }

    @Test func `An id that a value has does not name the document that it is added as`() async throws {
        let document = try await todos.add(Todo(id: "mine", title: "Milk"))
        #expect(document.id != "mine")
    }

    @Test func `A key path to an id asks for the document's name`() async throws {
        try await todos.document("a").set(Todo(title: "Milk"))
        try await todos.document("b").set(Todo(title: "Bread"))
        #expect(try await todos.where(\.id, .equal, "b").documents().map(\.title) == ["Bread"])
        #expect(try await todos.ordered(by: \.id, .descending).documents().map(\.id) == ["b", "a"])
    }

    @Test func `A path, and an id with a value to begin with, are filled in too`() throws {
        let document = DocumentSnapshot.existing("places/ulm", ["name": "Ulm"])
        let place = try #require(try document.decoded(as: Place.self))
        #expect(place.path == "places/ulm" && place.id == "ulm")
        let name = "bonn"
        let made = Place(id: name, name: "Bonn")
        #expect(made.id == "bonn" && made.path.mistake != nil)
    }

    @Test func `With other coders an id is an ordinary value, empty where it is missing`() throws {
        let todo = Todo(id: "a", title: "Milk")
        let json = try JSONEncoder().encode(todo)
        #expect(try JSONDecoder().decode(Todo.self, from: json) == todo)
        let bare = try JSONDecoder().decode(Todo.self, from: Data(#"{"title":"Milk","done":true}"#.utf8))
        #expect(bare.id.isEmpty && bare.done)
    }

    // MARK: Pages and rows

    private func fill(_ count: Int) async throws {
        for number in 0..<count { try await todos.document("t\(number + 10)").set(Todo(title: "\(number)")) }
    }

    @Test func `Pages are typed, of one size, and leave nothing out`() async throws {
        try await fill(7)
        var titles: [[String]] = []
        for try await page in todos.pages(size: 3) { titles.append(page.map(\.title)) }
        #expect(titles == [["0", "1", "2"], ["3", "4", "5"], ["6"]])
        var open: [Int] = []
        for try await page in todos.where(\.done, .equal, false).limited(to: 4).pages(size: 3) {
            open.append(page.count)
        }
        #expect(open == [3, 1])
    }

    @Test func `A page with a document that does not fit fails, or leaves it out`() async throws {
        try await fill(3)
        try await storage.setDocument("todos/t11", ["title": 5])
        var counts: [Int] = []
        for try await page in todos.pages(size: 2, onMismatch: .skip) { counts.append(page.rows.count) }
        #expect(counts == [1, 1])
        await #expect(throws: StorageError.self) { for try await _ in todos.pages(size: 2) {} }
    }

    @Test(arguments: [1, 3, 50]) func `Each result is worked on once, so many at a time`(_ parallel: Int) async throws {
        try await fill(10)
        let state = Mutex((now: 0, most: 0, seen: [String]()))
        try await todos.forEach(parallel: parallel, pageSize: 4) { row in
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
                state.seen.append(row.value.title)
            }
            await Task.yield()
            try await row.delete()
            state.withLock { $0.now -= 1 }
        }
        let (most, seen) = state.withLock { ($0.most, $0.seen) }
        #expect(seen.sorted() == (0..<10).map(String.init))
        #expect(most <= parallel)
        #expect(try await todos.count() == 0)
    }

    @Test(arguments: [1, 4]) func `The first failure ends the work and is thrown`(_ parallel: Int) async throws {
        struct Stop: Error {}
        try await fill(10)
        let seen = Mutex(0)
        await #expect(throws: Stop.self) {
            try await storage.collection("todos").forEach(parallel: parallel, pageSize: 2) { _ in
                seen.withLock { $0 += 1 }
                throw Stop()
            }
        }
        #expect(seen.withLock { $0 } <= parallel)
    }

    @Test func `A row changes its own document`() async throws {
        try await fill(2)
        let rows = try await todos.documents().rows
        try await rows[0].update(\.done, to: true)
        try await rows[0].update(\.title, .value("new"))
        try await rows[1].set(Todo(title: "other"))
        #expect(try await todos.document("t10").get()?.title == "new")
        #expect(try await todos.document("t10").get()?.done == true)
        #expect(try await todos.document("t11").get()?.title == "other")
        #expect(rows[0].handle.path == "todos/t10" && rows[0] == rows[0] && rows[0] != rows[1])
    }

    @Test func `A row that was only read as a type cannot be written as one`() async throws {
        struct Title: Decodable, Sendable { var title: String }
        try await fill(1)
        let list = try await storage.collection("todos").documents(of: Title.self)
        try await list.rows[0].update(\.title, to: "new")
        #expect(try await todos.documents().map(\.title) == ["new"])
        let error = await #expect(throws: StorageError.self) { try await list.rows[0].set(Title(title: "x")) }
        #expect(error?.code == .invalidArgument)
    }

    // MARK: One document that does not fit

    @Test func `A document that does not fit throws, or has no value and says why`() async throws {
        let document = todos.document("a")
        try await storage.setDocument(document.path, ["title": 5])
        await #expect(throws: StorageError.self) { try await document.get() }
        let reported = Mutex<[StorageError.Code]>([])
        #expect(
            try await document.get(onMismatch: .skip { error in reported.withLock { $0.append(error.code) } }) == nil)
        #expect(reported.withLock { $0 } == [.codingFailed])

        var iterator = document.stream(onMismatch: .skip).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.value == nil && first.exists && first.mismatch?.code == .codingFailed)
        try await document.set(Todo(title: "Milk"))
        let second = try #require(try await iterator.next())
        #expect(second.value?.title == "Milk" && second.mismatch == nil)
    }
}

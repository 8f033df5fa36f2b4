import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// What the article on documents and queries says, done on the mock.
@Suite struct DocumentsArticleTests {
    enum Priority: String, Codable, Sendable, DocumentValueConvertible {
        case low, high, highest
        var documentValue: DocumentValue { .string(rawValue) }
    }

    struct Todo: Codable, Sendable {
        @DocumentID var id: String
        var title: String
        var done = false
        var priority = Priority.low
        @ServerTimestamp var created: Date?
    }

    private struct User { let id = "alice" }

    /// What the article's app was given, in order.
    private final class Given: Sendable {
        private let kept = Mutex<[String]>([])
        var texts: [String] { kept.withLock { $0 } }
        func add(_ text: String) { kept.withLock { $0.append(text) } }
    }

    private let storage = MockStorageClient(MockBackend())
    private let user = User()
    private let given = Given()

    private func log(_ error: StorageError) { given.add("\(error.code)") }
    private func show(_ todo: Todo, isPending: Bool) { given.add("\(todo.title)\(isPending ? " (saving)" : "")") }
    private func show(_ user: DocumentSnapshot, _ contacts: DocumentList) {
        given.add("\(user.id) with \(contacts.count)")
    }
    private func append(_ documents: DocumentList) { for document in documents { given.add(document.id) } }
    private func append(_ rows: [TypedSnapshot<Todo>.Row]) { for row in rows { given.add(row.value.title) } }

    @Test func `People are asked for by conditions, read page by page and counted`() async throws {
        for (name, age, city) in [("ann", 30, "Ulm"), ("bob", 40, "Bonn"), ("cem", 12, "Ulm"), ("dan", 50, "Ulm")] {
            try await storage.setDocument(
                "users/\(name)",
                ["age": .of(age), "city": .of(city), "visits": 2, "tags": name == "bob" ? ["traveller"] : []])
        }
        let query = Query(in: "users")
            .where("age", .greaterThanOrEqual, 18)
            .where(.any([.field("city", .equal, "Ulm"), .field("tags", .arrayContains, "traveller")]))
            .ordered(by: "age", .descending)
            .limited(to: 20)
        #expect(try await storage.documents(query).documents.map(\.id) == ["dan", "bob", "ann"])

        for try await page in storage.pages(of: query, size: 50) {
            append(page.documents)
        }
        #expect(given.texts == ["dan", "bob", "ann"])

        let adults = try await storage.count(query)
        let values = try await storage.aggregate(query, [.count, .sum("visits"), .average("visits")])
        #expect(adults == 3 && values == [3, 6, 2.0])
    }

    @Test func `A typed list leaves out what does not fit, and its rows are worked on`() async throws {
        try await storage.setDocument(
            "users/alice/todos/odd", ["done": false, "priority": "high", "created": .serverTime])
        let todos = storage.collection("users/\(user.id)/todos", of: Todo.self)
        try await todos.add(Todo(title: "Milk", priority: .high))
        try await todos.add(Todo(title: "Nap"))
        try await todos.add(Todo(title: "Tax", done: true))
        let urgent = todos.where(\.done, .equal, false).where(\.priority, .in, [.high, .highest]).ordered(by: \.created)
        for try await list in urgent.stream(onMismatch: .skip { log($0) }) {
            for row in list.rows { show(row.value, isPending: row.isPending) }
            break
        }
        for try await page in todos.where(\.done, .equal, true).pages(size: 50) {
            append(page.rows)
        }
        #expect(given.texts == ["codingFailed", "Milk", "Tax"])

        try await todos.where(\.done, .equal, true).forEach(parallel: 8) { row in
            try await row.delete()
        }
        #expect(try await storage.count(Query(in: "users/alice/todos")) == 3)
    }

    @Test func `Two streams become one`() async throws {
        let me: StoragePath = "users/alice"
        let myContacts = Query(in: "users/alice/contacts")
        try await storage.setDocument("users/alice/contacts/bob", ["name": "Bob"])
        for try await (user, contacts) in combineLatest(storage.snapshots(of: me), storage.snapshots(of: myContacts)) {
            show(user, contacts.documents)
            break
        }
        #expect(given.texts == ["alice with 1"])
    }

    @Test func `Every piece of Swift in the article stands above, line for line`() throws {
        let article = try Article("Sources/Switchyard/Documentation.docc/DocumentsAndQueries.md")
        let missing = try article.missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}

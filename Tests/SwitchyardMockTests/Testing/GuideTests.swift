import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

private struct NotEnough: Error {}

private func show(_ text: String) { print(text) }

/// The first articles of the guide, done on the mock.
@Suite struct GuideTests {
    struct Todo: Codable, Sendable, Identifiable {
        @DocumentID var id: String
        var title: String
        var done = false
        @ServerTimestamp var created: Date?
    }

    @Test func `Getting started works as the article says`() async throws {
        let backend = try await Infrastructure(.mock)
        let user = try await backend.auth.signUp(email: "alice@example.com", password: "a long one").get()
        let storage = backend.storage

        let notes = storage.collection("users").document(user.id).collection("notes")
        let note = try await notes.add(["text": "Milk", "at": .serverTime])
        try await note.update(["text": "Oat milk", "edits": .increment(1)])
        print(try await note.get()["text"]?.stringValue ?? "")
        #expect(try await note.get()["text"] == "Oat milk")
        try await note.delete()
        #expect(try await !note.get().exists)

        let text = "Bread"
        let amount = 2
        try await notes.document("shopping").set(["text": .of(text), "amount": .of(amount), "note": "for \(amount)"])
        let shopping = try await notes.document("shopping").get()
        #expect(shopping["amount"] == 2 && shopping["note"] == "for 2")

        let todos = storage.collection("users").document(user.id).collection("todos", of: Todo.self)

        let milk = try await todos.add(Todo(title: "Milk"))
        let bread = try await todos.add(Todo(title: "Bread"))
        try await milk.update(\.done, to: true)
        let open = todos.where(\.done, .equal, false).ordered(by: \.created).limited(to: 50)
        for todo in try await open.documents() { print(todo.title) }
        if let todo = try await bread.get() { print(todo.title) }
        #expect(try await open.documents().map(\.title) == ["Bread"])
        #expect(try await milk.get()?.done == true)

        var lists: [[String]] = []
        for try await list in open.stream() {
            print(list.map(\.title), list.isFromCache ? "(cached)" : "", list.hasPendingWrites ? "(saving)" : "")
            lists.append(list.map(\.title))
            if list.isEmpty { break }
            try await bread.update(\.done, to: true)
        }
        #expect(lists.first == ["Bread"] && lists.last == [])

        let alice: StoragePath = "users/alice"
        try await storage.setDocument(alice, ["name": "Alice", "visits": 1])
        let snapshot = try await storage.document(alice)
        let theirs = try await storage.documents(Query(in: "users/\(user.id)/todos"), as: Todo.self)
        print(snapshot["visits"]?.integerValue ?? 0, theirs.count)
        #expect(snapshot["visits"] == 1)
        #expect(Set(theirs.map(\.title)) == ["Milk", "Bread"])
        await backend.shutDown()
    }

    @Test func `Documents are written as the article says`() async throws {
        let storage = MockStorageClient(MockBackend())
        try await storage.setDocument("users/alice", ["nickname": "Al", "address": ["zip": "89073"]])
        try await storage.setDocument("posts/1", ["likes": 4, "tags": ["old"], "best": 7])
        try await storage.setDocument("accounts/a", ["balance": 50])
        try await storage.setDocument("accounts/b", ["balance": 0])

        try await storage.mergeDocument("users/alice", ["address": ["city": "Ulm"]])
        try await storage.updateDocument("users/alice", ["address.city": "Ulm", "nickname": .delete])
        let alice = try await storage.document("users/alice")
        #expect(alice["address"] == ["city": "Ulm", "zip": "89073"] && alice["nickname"] == nil)

        try await storage.updateDocument(
            "posts/1",
            [
                "likes": .increment(1),
                "editedAt": .serverTime,
                "tags": .arrayUnion("swift", "server"),
                "best": .maximum(42),
            ])
        let post = try await storage.document("posts/1")
        #expect(post["likes"] == 5 && post["tags"] == ["old", "swift", "server"] && post["best"] == 42)

        try await storage.transaction { transaction in
            let from = try await transaction.document("accounts/a")
            let balance = from["balance"]?.integerValue ?? 0
            guard balance >= 10 else { throw NotEnough() }
            try await transaction.update("accounts/a", ["balance": .increment(-10)])
            try await transaction.update("accounts/b", ["balance": .increment(10)])
        }
        #expect(try await storage.document("accounts/b")["balance"] == 10)

        do throws(StorageError) {
            try await storage.transaction { transaction in
                guard try await transaction.document("accounts/a").exists else { throw NotEnough() }
            }
        } catch  where error.underlying is NotEnough {
            show("There is not enough money.")
        } catch {
            show("The transfer did not take place.")
        }

        let receipt = try await storage.setDocument("notes/1", ["text": "…"])
        try await receipt.acknowledged()
        let (note, added) = try await storage.collection("notes").addWithReceipt(["text": "…"])
        try await added.acknowledged()
        #expect(try await note.get()["text"] == "…")
    }

    @Test func `The README's first program shows what it says`() async throws {
        struct City: Codable, Sendable {
            var name: String
            var people: Int
        }

        let backend = try await Infrastructure(.mock)
        let cities = backend.storage.collection("cities", of: City.self)

        try await cities.add(City(name: "Ulm", people: 128_928))
        let large = cities.where(\.people, .greaterThan, 100_000).ordered(by: \.people, .descending)
        let following = Task {
            for try await list in large.stream() { print(list.map(\.name), list.hasPendingWrites ? "(saving)" : "") }
        }
        #expect(try await large.documents().map(\.name) == ["Ulm"])
        following.cancel()
        _ = await following.result
        await backend.shutDown()
    }

    @Test(arguments: [
        "Sources/Switchyard/Documentation.docc/GettingStarted.md",
        "Sources/Switchyard/Documentation.docc/WritingDocuments.md",
    ])
    func `Every piece of Swift in the guide stands above, line for line`(page: String) throws {
        let missing = try Article(page).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }

    @Test func `The README's first program stands above, line for line`() throws {
        let first = try #require(try Article("README.md").blocks(of: "swift").first)
        let done = Set(Article.lines(try String(contentsOfFile: #filePath, encoding: .utf8)))
        #expect(Article.lines(first).filter { !done.contains($0) }.isEmpty)
    }
}

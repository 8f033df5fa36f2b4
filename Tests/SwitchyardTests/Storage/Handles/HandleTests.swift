import Switchyard
import Testing

@Suite struct HandleTests {
    @Test func `Everything is behind the dot, on the client it comes from`() async throws {
        let storage = ToyStorage()
        let notes = storage.collection("users").document("alice").collection("notes")
        #expect(notes.path == "users/alice/notes" && notes.parent?.path == "users/alice" && notes.id == "notes")
        let note = try await notes.add(["text": "Milk", "n": 1])
        #expect(note.path.collection == notes.path && note.parent == notes)
        try await note.update(["n": .increment(1)])
        try await note.merge(["done": false])
        #expect(try await note.get()["n"] == 2)
        #expect(try await note.exists())
        try await notes.document("b").set(["text": "Eggs", "n": 5, "done": true])
        try await notes.document("c").create(["text": "Tea", "n": 7, "done": false])
        await #expect(throws: StorageError.self) { try await notes.document("c").create(["n": 8]) }
        let open = notes.where("done", .equal, false).ordered(by: "n", .descending)
        #expect(try await open.documents().documents.map(\.id) == ["c", note.id])
        #expect(try await open.limited(to: 1).first()?.id == "c")
        #expect(try await notes.count() == 3)
        #expect(try await notes.sum(of: "n") == 14)
        #expect(try await storage.collectionGroup("notes").where("n", .greaterThan, 4).count() == 2)
        #expect(try await storage.collectionGroup("notes", under: "users/bob").count() == 0)
        try await note.delete()
        #expect(try await !note.exists())
        #expect(try await storage.handle("users/alice").collections().map(\.path) == ["users/alice/notes"])
        var pages = 0
        for try await page in notes.pages(size: 1) {
            pages += 1
            #expect(page.count == 1)
        }
        #expect(pages == 2)
        #expect(try await notes.deleteRecursively() == 2)
        #expect(storage.paths.isEmpty)
    }

    @Test func `What was added comes with its receipt when asked for`() async throws {
        let storage = ToyStorage()
        let notes = storage.collection("notes")
        let (milk, first) = try await notes.addWithReceipt(["text": "Milk", "n": 1])
        let time = try await first.acknowledged().commitTime
        #expect(try await milk.get().updateTime == time)
        let (eggs, second) = try await notes.addWithReceipt(from: Note(text: "Eggs", n: 2))
        #expect(try await eggs.get()["text"] == "Eggs")
        let (tea, third) = try await notes.of(Note.self).addWithReceipt(Note(text: "Tea", n: 3))
        #expect(try await tea.get() == Note(text: "Tea", n: 3))
        #expect(try await second.acknowledged().commitTime < third.acknowledged().commitTime)
    }

    struct Note: Codable, Sendable, Equatable {
        var text: String
        var n: Int
    }

    @Test func `A handle takes and gives values, and becomes a typed one`() async throws {
        let storage = ToyStorage()
        let notes = storage.collection("notes")
        try await notes.document("a").set(from: Note(text: "Milk", n: 1))
        try await notes.add(from: Note(text: "Eggs", n: 2))
        #expect(try await notes.document("a").get(as: Note.self) == Note(text: "Milk", n: 1))
        #expect(try await notes.ordered(by: "n").documents(of: Note.self).map(\.n) == [1, 2])
        let typed = notes.of(Note.self)
        #expect(try await typed.where(\.n, .equal, 2).documents().map(\.text) == ["Eggs"])
        #expect(try await notes.document("a").of(Note.self).get()?.text == "Milk")
        #expect(try await notes.where("n", .equal, 1).of(Note.self).documents().count == 1)
        #expect(typed.untyped == notes && typed.document("a").untyped == notes.document("a"))
        let group = storage.collectionGroup("notes", of: Note.self).where(\.n, .greaterThan, 1)
        #expect(try await group.documents().rows.map(\.value.text) == ["Eggs"])
    }

    @Test func `Streams of handles show the current state and what comes`() async throws {
        let storage = ToyStorage(["notes/a": ["n": 1]])
        let notes = storage.collection("notes")
        var all = notes.where("n", .greaterThan, 0).stream().makeAsyncIterator()
        var one = notes.document("a").stream().makeAsyncIterator()
        #expect(try await all.next()?.count == 1)
        #expect(try await one.next()?["n"] == 1)
        try await notes.document("a").update(["n": 2])
        #expect(try await one.next()?["n"] == 2)
        #expect(try await all.next()?.documents.first?["n"] == 2)
    }

    @Test(arguments: ["", "a/b", ".."])
    func `A name that is no segment is refused by the first operation`(name: String) async throws {
        let storage = ToyStorage(["users/a": ["n": 1]])
        let document = storage.collection("users").document(name)
        let below = document.collection("todos", of: Note.self)
        let attempts: [@Sendable () async throws -> Void] = [
            { _ = try await document.get() }, { try await document.set(["n": 2]) }, { try await document.delete() },
            { for try await _ in document.stream() {} }, { _ = try await below.documents() },
            { _ = try await below.where(\.n, .equal, 1).count() }, { try await below.add(Note(text: "", n: 1)) },
            { for try await _ in below.stream() {} }, { try await below.document("x").update(\.n, to: 3) },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = await #expect(throws: StorageError.self, "attempt \(index)") { try await attempt() }
            #expect(error?.code == .invalidArgument, "attempt \(index)")
        }
        #expect(storage.commits.isEmpty)
    }
}

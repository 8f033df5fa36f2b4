import Switchyard
import Testing

@Suite struct TypedCollectionTests {
    struct Person: Codable, Equatable, Sendable {
        @DocumentID var id: String?
        var name: String
        var age: Int
    }

    struct Temperature: DocumentConvertible, Equatable {
        var degrees: Double
        init(degrees: Double) { self.degrees = degrees }
        init(document: DocumentSnapshot) throws(StorageError) {
            degrees = try document.required("degrees", \.doubleValue)
        }
        func documentFields() -> WriteFields { ["degrees": .of(degrees), "at": .serverTime] }
    }

    @Test func `Typed documents are written, read, narrowed, counted and deleted`() async throws {
        let storage = ToyStorage()
        let people = storage.typed(Person.self, in: "people")
        try await people.set("a", Person(name: "Ann", age: 30))
        try await people.create("b", Person(name: "Bob", age: 10))
        let id = try await people.add(Person(name: "Cid", age: 20))
        #expect(try await people.get("a") == Person(id: "a", name: "Ann", age: 30))
        #expect(try await people.get("zzz") == nil)
        let adults = try await people.results { query throws(StorageError) in
            try query.where("age", .greaterThan, 15).ordered(by: "age")
        }
        #expect(adults.map(\.id) == [id, "a"])
        #expect(try await people.count() == 3)
        try await people.update("a", ["age": .increment(1)])
        try await people.merge("b", Person(name: "Bobby", age: 11))
        try await people.delete(id)
        #expect(try await people.results().map(\.age) == [31, 11])
        await #expect(throws: StorageError.self) { try await people.create("a", Person(name: "x", age: 1)) }
        await #expect(throws: StorageError.self) { try await people.get("no/slash") }
    }

    @Test func `A type with its own conversion needs no Codable`() async throws {
        let storage = ToyStorage()
        let readings = storage.typed(Temperature.self, in: "readings")
        try await readings.set("1", Temperature(degrees: 20.5))
        #expect(try await readings.get("1") == Temperature(degrees: 20.5))
        #expect(storage.data("readings/1")?["at"]?.timestampValue?.seconds == 1)
        try await storage.setDocument("readings/2", ["degrees": "warm"])
        let error = await #expect(throws: StorageError.self) { try await readings.get("2") }
        #expect(error?.code == .codingFailed && error?.message.contains("“degrees” of “readings/2”") == true)
    }

    @Test func `A typed stream shows every state, and ends at a document that does not fit`() async throws {
        let storage = ToyStorage(["people/a": ["name": "Ann", "age": 1]])
        let people = storage.typed(Person.self, in: "people")
        var all = people.stream().makeAsyncIterator()
        #expect(try await all.next()?.map(\.name) == ["Ann"])
        try await people.set("b", Person(name: "Bob", age: 2))
        #expect(try await all.next()?.map(\.name) == ["Ann", "Bob"])
        try await storage.setDocument("people/b", ["name": 5])
        let error = await #expect(throws: StorageError.self) { try await all.next() }
        #expect(error?.message.contains("“people/b”") == true)
        #expect(try await all.next() == nil)
        #expect(storage.listenerCount == 0)
        var one = people.stream("a").makeAsyncIterator()
        #expect(try await one.next()??.age == 1)
        try await people.delete("a")
        #expect(try await one.next() == .some(nil))
        var wrong = people.stream("a/b").makeAsyncIterator()
        await #expect(throws: StorageError.self) { try await wrong.next() }
    }

    @Test func `Codable values go through the plain operations, batches and transactions`() async throws {
        let storage = ToyStorage()
        try await storage.setDocument("p/1", from: Person(name: "Ann", age: 1))
        #expect(try await storage.document("p/1", as: Person.self)?.name == "Ann")
        #expect(try await storage.document("p/2", as: Person.self) == nil)
        try await storage.mergeDocument("p/1", from: ["extra": ["x": 1]])
        let path = try await storage.addDocument(to: "p", from: ["name": "Zoe"])
        #expect(path.collection == "p" && path.id.count == 20)
        var batch = WriteBatch()
        try batch.set("p/3", from: Person(name: "Cid", age: 3))
        try batch.create("p/4", from: ["name": "Dan"])
        try batch.merge("p/1", from: ["extra": ["y": 2]])
        _ = try await storage.commit(batch)
        #expect(storage.data("p/1") == ["age": 1, "extra": ["x": 1, "y": 2], "name": "Ann"])
        try await storage.transaction { transaction in
            var person = try await transaction.document("p/3", as: Person.self)!
            person.age += 1
            try await transaction.set("p/3", from: person)
        }
        #expect(
            try await storage.documents(Query(in: "p").where("age", .equal, 4), as: Person.self).map(\.name) == ["Cid"])
        // A literal is a set of fields, whatever else could be made of it.
        try await storage.setDocument("p/5", ["name": "Eve"])
        try await storage.setDocument("p/5", DocumentData([("name", "Eve")]))
        try await storage.setDocument("p/6", ["n": .increment(1), "inner": ["at": .serverTime]])
    }
}

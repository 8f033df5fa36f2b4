import Foundation
import Switchyard
import Synchronization
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
        let people = storage.collection("people", of: Person.self)
        try await people.document("a").set(Person(name: "Ann", age: 30))
        try await people.document("b").create(Person(name: "Bob", age: 10))
        let cid = try await people.add(Person(name: "Cid", age: 20))
        #expect(try await people.document("a").get() == Person(id: "a", name: "Ann", age: 30))
        #expect(try await people.document("zzz").get() == nil)
        let adults = people.where(\.age, .greaterThan, 15).ordered(by: \.age)
        #expect(try await adults.documents().map(\.id) == [cid.id, "a"])
        #expect(try await adults.limited(to: 1).documents().map(\.name) == ["Cid"])
        #expect(try await adults.first()?.name == "Cid")
        #expect(try await people.where(\.id, .equal, "b").documents().map(\.name) == ["Bob"])
        #expect(try await people.where(\.age, .in, [10, 30]).count() == 2)
        #expect(try await people.count() == 3)
        #expect(try await people.sum(of: \.age) == 60)
        #expect(try await people.average(of: \.age) == 20)
        try await people.document("a").update(["age": .increment(1)])
        try await people.document("a").update(\.age, .increment(1))
        try await people.document("a").update(\.name, to: "Anna")
        try await people.document("b").merge(Person(name: "Bobby", age: 11))
        try await cid.delete()
        #expect(try await people.documents().map(\.age) == [32, 11])
        #expect(storage.data("people/a") == ["age": 32, "name": "Anna"])
        await #expect(throws: StorageError.self) { try await people.document("a").create(Person(name: "x", age: 1)) }
        await #expect(throws: StorageError.self) { try await people.document("no/slash").get() }
    }

    @Test func `A type with its own conversion needs no Codable`() async throws {
        let storage = ToyStorage()
        let readings = storage.collection("readings", of: Temperature.self)
        try await readings.document("1").set(Temperature(degrees: 20.5))
        #expect(try await readings.document("1").get() == Temperature(degrees: 20.5))
        #expect(storage.data("readings/1")?["at"]?.timestampValue?.seconds == 1)
        try await storage.setDocument("readings/2", ["degrees": "warm"])
        let error = await #expect(throws: StorageError.self) { try await readings.document("2").get() }
        #expect(error?.code == .codingFailed && error?.message.contains("“degrees” of “readings/2”") == true)
        let unnamed = readings.where(\.degrees, .greaterThan, 1)
        #expect(unnamed.query.mistake?.message.contains("Name the field as text") == true)
    }

    @Test func `A typed stream shows every state, and ends at a document that does not fit`() async throws {
        let storage = ToyStorage(["people/a": ["name": "Ann", "age": 1]])
        let people = storage.collection("people", of: Person.self)
        var all = people.stream().makeAsyncIterator()
        #expect(try await all.next()?.map(\.name) == ["Ann"])
        try await people.document("b").set(Person(name: "Bob", age: 2))
        #expect(try await all.next()?.map(\.name) == ["Ann", "Bob"])
        try await storage.setDocument("people/b", ["name": 5])
        let error = await #expect(throws: StorageError.self) { try await all.next() }
        #expect(error?.message.contains("“people/b”") == true)
        #expect(try await all.next() == nil)
        #expect(storage.listenerCount == 0)
        var one = people.document("a").stream().makeAsyncIterator()
        #expect(try await one.next()?.value?.age == 1)
        try await people.document("a").delete()
        let gone = try await one.next()
        #expect(gone?.exists == false && gone?.value == nil && gone?.id == "a")
        var wrong = people.document("a/b").stream().makeAsyncIterator()
        await #expect(throws: StorageError.self) { try await wrong.next() }
    }

    @Test func `A stream that skips what does not fit goes on, and says what it left out`() async throws {
        let storage = ToyStorage(["people/a": ["name": "Ann", "age": 1], "people/b": ["name": 5]])
        let people = storage.collection("people", of: Person.self)
        let reported = Reported()
        var all = people.stream(onMismatch: .skip { reported.add($0) }).makeAsyncIterator()
        let first = try #require(try await all.next())
        #expect(first.map(\.name) == ["Ann"] && first.rows.map(\.id) == ["people/a"] && first.snapshot.count == 2)
        #expect(first.mismatches.map(\.code) == [.codingFailed])
        #expect(reported.messages.count == 1 && reported.messages[0].contains("“people/b”"))
        try await storage.setDocument("people/b", ["name": "Bob", "age": 2])
        let second = try #require(try await all.next())
        #expect(second.map(\.name) == ["Ann", "Bob"] && second.mismatches.isEmpty)
        try await storage.setDocument("people/c", [:])
        #expect(try await people.documents(onMismatch: .skip).count == 2)
        #expect(try await storage.collection("people").documents(of: Person.self, onMismatch: .skip).count == 2)
        await #expect(throws: StorageError.self) { try await people.documents() }
        await #expect(throws: StorageError.self) { try await storage.collection("people").documents(of: Person.self) }
    }

    @Test func `A row knows whether it waits to be saved, and a list whether any does`() throws {
        let documents = [
            DocumentSnapshot.existing("people/a", ["name": "Ann", "age": 1]),
            .existing(
                "people/b", ["name": "Bob", "age": 2],
                metadata: SnapshotMetadata(isFromCache: true, hasPendingWrites: true)),
        ]
        let snapshot = QuerySnapshot(
            query: Query(in: "people"), documents: documents,
            metadata: SnapshotMetadata(isFromCache: true, hasPendingWrites: true))
        let list = try TypedSnapshot<Person>(snapshot, .fail, from: ToyStorage())
        #expect(list.map(\.id) == ["a", "b"] && list.last?.name == "Bob" && list.rows.map(\.value.age) == [1, 2])
        #expect(list.isFromCache && list.hasPendingWrites)
        #expect(list.rows.map(\.isPending) == [false, true] && list.rows.map(\.isFromCache) == [false, true])
    }

    private final class Reported: Sendable {
        private let state = Mutex<[String]>([])
        var messages: [String] { state.withLock { $0 } }
        func add(_ error: StorageError) { state.withLock { $0.append(error.message) } }
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

import Switchyard
import Testing

@testable import SwitchyardSync

/// What a one-time read leaves behind where only what somebody refers to is kept.
@Suite struct OneTimeReadTests {
    private let machine: SyncMachine
    private let ulm: StoragePath = "cities/ulm"

    init() throws {
        machine = try SyncMachine(store: MemoryStore(), policy: .eager, owner: QueueOwner(nil))
        _ = machine.handle(.setNetwork(isEnabled: false))
    }

    private func city(_ population: Int64, at seconds: Int64) -> DocumentSnapshot {
        .existing(ulm, ["pop": .integer(population)], updateTime: Timestamp(microseconds: seconds * 1_000_000))
    }

    private func read(_ document: DocumentSnapshot) throws -> [StoragePath: DocumentSnapshot] {
        try machine.take(FetchedDocuments(documents: [document], readTime: try #require(document.updateTime)))
    }

    @Test func `A document that nothing refers to is not kept`() throws {
        #expect(try read(city(126, at: 1)).isEmpty)
        #expect(try machine.document(at: ulm) == nil)
    }

    @Test func `A document that a bundle holds on to is brought up to date, and never set back`() throws {
        let packed = DocumentBundle.Document(
            snapshot: city(126, at: 1), readTime: Timestamp(microseconds: 1_000_000), queries: [])
        let bundle = DocumentBundle(
            id: "b", version: 1, createTime: Timestamp(microseconds: 1_000_000), documents: [packed])
        _ = machine.handle(.load(bundle))
        #expect(try machine.document(at: ulm)?.data == ["pop": 126])
        // The cache now has what the answer says.
        #expect(try read(city(127, at: 2)).isEmpty)
        #expect(try machine.document(at: ulm)?.data == ["pop": 127])
        #expect(try read(city(126, at: 1))[ulm]?.data == ["pop": 127])
    }

    @Test func `A large read keeps and corrects every document, in whatever order the answer has them`() throws {
        let machine = try SyncMachine(store: MemoryStore(), policy: .standard, owner: QueueOwner(nil))
        func city(_ number: Int, at seconds: Int64) -> DocumentSnapshot {
            .existing(
                StoragePath("cities", "c\(number)"), ["at": .integer(seconds)],
                updateTime: Timestamp(microseconds: seconds * 1_000_000))
        }
        func read(_ documents: [DocumentSnapshot], at seconds: Int64) throws -> [StoragePath: DocumentSnapshot] {
            try machine.take(
                FetchedDocuments(documents: documents, readTime: Timestamp(microseconds: seconds * 1_000_000)))
        }
        let numbers = Array(0..<2_000)
        #expect(try read(numbers.filter { $0.isMultiple(of: 3) }.map { city($0, at: 9) }, at: 9).isEmpty)
        // A third is known in a later version than this answer's.
        let local = try read(numbers.reversed().map { city($0, at: 5) }, at: 5)
        #expect(local.count == 667 && local.values.allSatisfy { $0.data == ["at": 9] })
        for number in numbers {
            let expected: DocumentValue = number.isMultiple(of: 3) ? 9 : 5
            #expect(try machine.document(at: StoragePath("cities", "c\(number)"))?.data?["at"] == expected)
        }
    }

    @Test func `A queued write lies over what a read brings, and what it brought stays under the write`() throws {
        let write = try DocumentWrite.update(ulm, ["name": "Ulm"])
        _ = machine.handle(.write(1, [write], at: Timestamp(microseconds: 1)))
        #expect(try read(city(126, at: 1))[ulm]?.data == ["pop": 126, "name": "Ulm"])
        #expect(try machine.document(at: ulm)?.data == ["pop": 126, "name": "Ulm"])
    }

    @Test func `An answer that cannot be stored still shows the pending writes`() throws {
        let store = FlakyStore(MemoryStore())
        let machine = try SyncMachine(store: store, policy: .standard, owner: QueueOwner(nil))
        let write = try DocumentWrite.update(ulm, ["name": "Ulm"])
        _ = machine.handle(.write(1, [write], at: Timestamp(microseconds: 1)))
        let answer = FetchedDocuments(documents: [city(126, at: 1)], readTime: Timestamp(microseconds: 9_000_000))
        store.failing = [.applyRemoteEvent]
        #expect(try machine.take(answer)[ulm]?.data == ["pop": 126, "name": "Ulm"])
        #expect(try machine.take(answer)[ulm]?.metadata.hasPendingWrites == true)
        #expect(try machine.document(at: ulm)?.exists != true, "nothing was stored")
        // If nothing can be read either, no one knows what is pending.
        store.failing = Set(StoreOperation.allCases)
        let error = #expect(throws: StorageError.self) { try machine.take(answer) }
        #expect(error?.code == .localStore)
    }

    @Test func `An answer is not set back by storing it in vain`() throws {
        let store = FlakyStore(MemoryStore())
        let machine = try SyncMachine(store: store, policy: .standard, owner: QueueOwner(nil))
        let newer = FetchedDocuments(documents: [city(127, at: 2)], readTime: Timestamp(microseconds: 9_000_000))
        _ = try machine.take(newer)
        store.failing = [.applyRemoteEvent]
        let older = FetchedDocuments(documents: [city(126, at: 1)], readTime: Timestamp(microseconds: 8_000_000))
        #expect(try machine.take(older)[ulm]?.data == ["pop": 127])
    }

    @Test func `An open view shows a match that a read brought`() throws {
        _ = machine.handle(.listen(1, .query(Query(in: "cities")), ViewOptions()))
        _ = try read(city(126, at: 1))
        let shown = machine.takeActions().compactMap { action -> [DocumentSnapshot]? in
            if case .snapshot(1, let snapshot) = action { Array(snapshot.documents) } else { nil }
        }
        #expect(shown.last?.map(\.path) == [ulm])
    }
}

import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// Queries over the cache look at few fields of most documents, and keep no more than a limit allows; what comes out must be
/// what a query over whole documents gives.
@Suite struct CacheQueryTests {
    @Test(arguments: 0..<RunSize.full(8, part: 2))
    func `A query over the cache finds what it finds among whole documents`(seed: Int) throws {
        let folder = try TemporaryFolder()
        let stores: [any SyncStore] = [MemoryStore(), try SQLiteStore(folder: folder.url)]
        for store in stores {
            var random = RandomRows(seed: UInt64(seed) &+ 500)
            let machine = try SyncMachine(store: store, policy: .standard, owner: QueueOwner(nil))
            _ = machine.handle(.setNetwork(isEnabled: false))
            fill(machine, &random)
            let all = try RandomRows.collections.flatMap { try machine.run(Query(in: $0)) }
            #expect(all.count > 20)
            var found = 0
            for _ in 0..<150 {
                let query = random.query()
                let evaluator = QueryEvaluator(query)
                let expected = evaluator.results(among: all)
                #expect(try evaluator.results(among: machine.run(query)) == expected, "\(query)")
                found += expected.count
            }
            #expect(found > 20)
            machine.close()
        }
    }

    /// Documents that the server has told, and some that this device has written since.
    private func fill(_ machine: SyncMachine, _ random: inout RandomRows) {
        for time in 1...200 {
            let path = random.path()
            if random.chance(70) {
                let version = Timestamp(microseconds: Int64(time))
                let document = DocumentSnapshot.existing(path, random.data(), updateTime: version)
                _ = machine.handle(.fetched(FetchedDocuments(documents: [document], readTime: version)))
            } else {
                let write = random.write()
                _ = machine.handle(.write(time, [write], at: Timestamp(microseconds: Int64(time))))
            }
        }
    }

    @Test(arguments: [Query.Limit.first(5), .last(5)])
    func `A limit finds the nearest documents, in whatever order they are stored`(_ limit: Query.Limit) throws {
        let folder = try TemporaryFolder()
        for direction in [Query.Direction.ascending, .descending] {
            let store = try SQLiteStore(folder: folder.file("\(direction)"))
            let machine = try SyncMachine(store: store, policy: .standard, owner: QueueOwner(nil))
            let documents = (0..<500).map { number in
                let path = StoragePath(unchecked: "items/\(1000 + number)")
                return DocumentSnapshot.existing(
                    path, ["n": .integer(Int64(number))], updateTime: Timestamp(microseconds: 1))
            }
            let fetched = FetchedDocuments(documents: documents, readTime: Timestamp(microseconds: 1))
            _ = machine.handle(.fetched(fetched))
            var query = Query(in: "items").ordered(by: "n", direction)
            query.limit = limit
            let expected = QueryEvaluator(query).results(among: documents).map(\.path)
            #expect(try machine.run(query).map(\.path) == expected)
            machine.close()
        }
    }
}

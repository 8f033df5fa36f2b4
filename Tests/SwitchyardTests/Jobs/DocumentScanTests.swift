import Foundation
import Switchyard
import SwitchyardMock
import Synchronization
import Testing

@Suite struct DocumentScanTests {
    private let backend = MockBackend()

    private func fill(_ count: Int) throws {
        try backend.seed((0..<count).map { ("items/\($0)" as StoragePath, ["n": .integer(Int64($0 % 10))]) })
    }

    @Test(arguments: [1, 7]) func `Every document is seen once, pages and workers whatever`(_ parallel: Int)
        async throws
    {
        try fill(1003)
        let seen = Mutex<[String]>([])
        try await MockStorageClient(backend).forEachDocument(Query(in: "items"), pageSize: 50, parallel: parallel) {
            document in
            seen.withLock { $0.append(document.id) }
        }
        #expect(seen.withLock { $0.count } == 1003 && Set(seen.withLock { $0 }).count == 1003)
    }

    @Test func `A run goes on where another was stopped, by a place that was kept as text`() async throws {
        struct Stopped: Error {}
        try fill(500)
        let client = MockStorageClient(backend)
        let query = Query(in: "items").where("n", .greaterThan, 1).ordered(by: "n")
        let seen = Mutex<[String]>([])
        var kept: Data?
        await #expect(throws: Stopped.self) {
            try await client.forEachDocument(query, pageSize: 60) { document in
                if seen.withLock({ $0.count }) == 200 { throw Stopped() }
                seen.withLock { $0.append(document.id) }
            } reached: { place in
                kept = try JSONEncoder().encode(place)
            }
        }
        let place = try JSONDecoder().decode(ScanPlace.self, from: try #require(kept))
        // What was done of the page that was not finished is done again.
        seen.withLock { $0 = Array($0.prefix(180)) }
        try await client.forEachDocument(query, pageSize: 60, from: place) { document in
            seen.withLock { $0.append(document.id) }
        }
        #expect(seen.withLock { $0.count } == 400 && Set(seen.withLock { $0 }).count == 400)
    }

    @Test func `Documents that come and go meanwhile shift nothing`() async throws {
        try fill(300)
        let client = MockStorageClient(backend)
        let seen = Mutex<Set<String>>([])
        try await client.forEachDocument(Query(in: "items"), pageSize: 20) { document in
            let isNew = seen.withLock { $0.insert(document.id).inserted }
            #expect(isNew)
            try await client.deleteDocument(document.path)
            try await client.setDocument("items/0\(document.id)", ["n": 0])
        }
        #expect(seen.withLock { seen in (0..<300).allSatisfy { seen.contains("\($0)") } })
    }
}

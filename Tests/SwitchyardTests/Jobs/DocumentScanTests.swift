import Foundation
import SwitchyardMock
import Synchronization
import Testing

@testable import Switchyard

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

    @Test func `A run goes on where another was stopped, by a position that was saved as text`() async throws {
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

    @Test func `A limit and an offset count once, however often a run is stopped`() async throws {
        struct Stopped: Error {}
        try fill(500)
        let client = MockStorageClient(backend)
        let query = Query(in: "items").ordered(by: "n").skipping(10).limited(to: 200)
        let whole = try await client.documents(query).documents.map(\.id)
        let seen = Mutex<[String]>([])
        var kept: ScanPlace?
        for _ in 0..<20 {
            do {
                try await client.forEachDocument(query, pageSize: 30, from: kept) { document in
                    seen.withLock { $0.append(document.id) }
                } reached: { place in
                    kept = place
                    throw Stopped()
                }
                break
            } catch is Stopped {}
        }
        #expect(seen.withLock { $0 } == whole)
    }

    // MARK: Parts

    private func fillGroup(_ count: Int) throws {
        try backend.seed(
            (0..<count).map { ("owners/\($0 % 17)/orders/\($0)" as StoragePath, ["n": .integer(Int64($0))]) })
    }

    @Test(arguments: [2, 3, 16]) func `All collections of a name are read in parts, each document once`(
        _ parallel: Int
    ) async throws {
        try fillGroup(1000)
        let client = MockStorageClient(backend)
        let seen = Mutex<[StoragePath]>([])
        let places = Mutex<[Int]>([])
        try await client.forEachDocument(Query(group: "orders"), pageSize: 20, parallel: parallel) { document in
            seen.withLock { $0.append(document.path) }
        } reached: { place in
            places.withLock { $0.append(place.parts.count) }
        }
        #expect(seen.withLock { $0.count } == 1000 && Set(seen.withLock { $0 }).count == 1000)
        #expect(places.withLock { $0.first } == parallel * 4)
        #expect(places.withLock { $0.last.map { $0 <= parallel } } == true)
    }

    @Test func `What has conditions or another order is read in one part`() async throws {
        try fillGroup(100)
        let client = MockStorageClient(backend)
        let queries = [
            Query(group: "orders").where("n", .greaterThan, 3), Query(group: "orders").ordered(by: "n"),
            Query(group: "orders").ordered(by: .documentID, .descending), Query(group: "orders").limited(to: 50),
            Query(group: "orders", under: "owners/3"), Query(in: "owners/3/orders"),
        ]
        for query in queries {
            try await client.forEachDocument(query, pageSize: 20, parallel: 8) { _ in
            } reached: { place in
                #expect(place.parts.count == 1)
            }
        }
        try await client.forEachDocument(Query(group: "orders"), parallel: 1) { _ in
        } reached: { place in
            #expect(place.parts.count == 1)
        }
    }

    @Test func `A run in parts goes on where it was stopped, again and again`() async throws {
        struct Stopped: Error {}
        try fillGroup(600)
        let client = MockStorageClient(backend)
        let done = Mutex<Set<StoragePath>>([])
        var kept: Data?
        var runs = 0
        while true {
            runs += 1
            let place = try kept.map { try JSONDecoder().decode(ScanPlace.self, from: $0) }
            let begun = Mutex<[StoragePath]>([])
            var pages = 0
            do {
                try await client.forEachDocument(Query(group: "orders"), pageSize: 15, parallel: 4, from: place) {
                    document in
                    begun.withLock { $0.append(document.path) }
                } reached: { place in
                    kept = try JSONEncoder().encode(place)
                    pages += 1
                    if pages == 7 { throw Stopped() }
                }
                done.withLock { $0.formUnion(begun.withLock { $0 }) }
                break
            } catch is Stopped {
                // What was begun behind the place is done again.
                done.withLock { $0.formUnion(begun.withLock { $0 }) }
                let count = begun.withLock { $0.count }
                #expect(count < 225)
            }
        }
        #expect(runs > 3 && done.withLock { $0.count } == 600)
        let place = try JSONDecoder().decode(ScanPlace.self, from: try #require(kept))
        try await client.forEachDocument(Query(group: "orders"), parallel: 4, from: place) { _ in
            Issue.record("nothing was left")
        }
    }

    @Test func `A failure in one part ends all, and what was reached stays`() async throws {
        struct Broken: Error {}
        try fillGroup(400)
        let client = MockStorageClient(backend)
        await #expect(throws: Broken.self) {
            try await client.forEachDocument(Query(group: "orders"), pageSize: 10, parallel: 4) { document in
                if document["n"] == 250 { throw Broken() }
            }
        }
    }
}

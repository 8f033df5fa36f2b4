import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Much at once, on the real Firestore emulator.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreVolumeTests {
    /// Writes documents with these numbers, past the engine.
    private static func seed(_ numbers: Range<Int>, by service: FirestoreService) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
            _ = try await service.commit(
                (start..<min(start + 500, numbers.upperBound)).map { number in
                    try .set(CollectionPath("many").document("d\(number)"), ["number": .of(number)])
                })
        }
    }

    private static func seat(_ room: Int) throws -> StoragePath {
        try StoragePath(validating: "rooms/r\(room)/seats/s")
    }

    @Test func `Nine thousand documents are followed live, and ten thousand read at once`() async throws {
        let site = try await FirestoreSite()
        let service = try site.service()
        try await Self.seed(0..<9_000, by: service)
        let client = try await site.client()
        let query = Query(in: "many").ordered(by: "number")
        var isFirst = true
        for try await snapshot in client.snapshots(of: query) where !snapshot.metadata.isFromCache {
            if isFirst {
                isFirst = false
                #expect(snapshot.documents.map { $0["number"] } == (0..<9_000).map { .integer($0) })
                _ = try await service.commit([.set("many/d4500", ["number": -1])])
            } else {
                #expect(snapshot.changes.map(\.document.id) == ["d4500"])
                #expect(snapshot.documents.count == 9_000)
                #expect(snapshot.documents.first?.id == "d4500")
                break
            }
        }
        await client.shutDown()

        try await Self.seed(9_000..<10_000, by: service)
        let results = try await service.results(of: query).documents
        #expect(results.count == 10_000)
        #expect(results.dropFirst(4_501).map { $0["number"] } == (4_501..<10_000).map { .integer($0) })
        let last = try await service.results(of: query.limited(toLast: 3)).documents
        #expect(last.map(\.id) == ["d9997", "d9998", "d9999"])
        #expect(try await service.aggregate(query, [.count]) == [10_000])
        let paths = (0..<1_000).map { CollectionPath("many").document("d\($0)") }
        #expect(try await service.documents(paths).found.map(\.path) == paths)
        await service.exchange.transport.shutDown()
    }

    @Test func `Three hundred targets share one stream, and each tells its own changes`() async throws {
        let site = try await FirestoreSite()
        let transport = CountingTransport(CurlTransport(), counting: "CVER=")
        let client = try await site.client(transport: transport)
        let service = try site.service()
        for start in stride(from: 0, to: 300, by: 100) {
            _ = try await service.commit(
                (start..<start + 100).map { try .set(Self.seat($0), ["number": 0]) })
        }
        let seen = TickList()
        let confirmed = TickList()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for room in 0..<300 {
                group.addTask {
                    // Half of them single documents, half of them queries.
                    if room.isMultiple(of: 2) {
                        for try await snapshot in client.snapshots(of: try Self.seat(room))
                        where !snapshot.metadata.isFromCache {
                            confirmed.tick(room)
                            if snapshot["number"] == .integer(Int64(room + 1)) { break }
                        }
                    } else {
                        let query = Query(in: try Self.seat(room).collection)
                        for try await snapshot in client.snapshots(of: query) where !snapshot.metadata.isFromCache {
                            confirmed.tick(room)
                            #expect(snapshot.documents.count == 1)
                            if snapshot.documents.first?["number"] == .integer(Int64(room + 1)) { break }
                        }
                    }
                    seen.tick(room)
                }
            }
            try await eventually("all targets are current") { confirmed.count == 300 }
            for start in stride(from: 0, to: 300, by: 50) {
                _ = try await service.commit(
                    (start..<start + 50).map { try .set(Self.seat($0), ["number": .of($0 + 1)]) })
            }
            try await group.waitForAll()
        }
        #expect(seen.counts.values.allSatisfy { $0 == 1 } && seen.count == 300)
        #expect(transport.count == 1)
        await client.shutDown()
        await service.exchange.transport.shutDown()
    }
}

import Switchyard
import SwitchyardTestRuns
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

    @Test(.beside(thousands))
    func `Thousands of documents are followed live, and more are read at once`() async throws {
        let seen = try await Self.thousands.value
        let (live, all, changed) = (Self.live, Self.all, Self.live / 2)
        #expect(seen.first == (0..<live).map { .of($0) })
        #expect(seen.changed == ["d\(changed)"])
        #expect(seen.afterChange.count == live)
        #expect(seen.afterChange.first == "d\(changed)")
        #expect(seen.readAtOnce.count == all)
        #expect(seen.readAtOnce.dropFirst(changed + 1) == ((changed + 1..<all).map { .of($0) })[...])
        #expect(seen.last == (all - 3..<all).map { "d\($0)" })
        #expect(seen.count == [.of(all)])
        #expect(seen.byName == (0..<1_000).map { "many/d\($0)" })
    }

    /// What was seen of many documents, live and read.
    private struct Thousands: Sendable {
        var first: [DocumentValue?] = []
        var changed: [String] = []
        var afterChange: [String] = []
        var readAtOnce: [DocumentValue?] = []
        var last: [String] = []
        var count: [DocumentValue] = []
        var byName: [String] = []
    }

    private static let live = RunSize.full(9_000, part: 1_800)
    private static let all = RunSize.full(10_000, part: 2_000)

    private static let thousands = SideRun {
        var seen = Thousands()
        let site = try await FirestoreSite()
        let service = try site.service()
        try await seed(0..<live, by: service)
        let client = try await site.client()
        let query = Query(in: "many").ordered(by: "number")
        for try await snapshot in client.snapshots(of: query) where !snapshot.metadata.isFromCache {
            if seen.first.isEmpty {
                seen.first = snapshot.documents.map { $0["number"] }
                _ = try await service.commit([.set(CollectionPath("many").document("d\(live / 2)"), ["number": -1])])
            } else {
                seen.changed = snapshot.changes.map(\.document.id)
                seen.afterChange = snapshot.documents.map(\.id)
                break
            }
        }
        await client.shutDown()

        try await seed(live..<all, by: service)
        seen.readAtOnce = try await service.results(of: query).documents.map { $0["number"] }
        seen.last = try await service.results(of: query.limited(toLast: 3)).documents.map(\.id)
        seen.count = try await service.aggregate(query, [.count])
        let paths = (0..<1_000).map { CollectionPath("many").document("d\($0)") }
        seen.byName = try await service.documents(paths).found.map(\.path.rawValue)
        await service.transport.shutDown()
        return seen
    }

    @Test func `Three hundred targets share one stream, and each reports its own changes`() async throws {
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
        await service.transport.shutDown()
    }
}

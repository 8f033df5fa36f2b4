import Switchyard
import SwitchyardTestSupport
import Synchronization
import Testing

/// Fifty live queries on one device, and another that writes to all of them, while a test makes trouble: every query heals,
/// misses nothing and shows nothing twice.
struct FiftyRooms {
    let reader: any StorageClient
    let writer: any StorageClient
    private let load = WriteLoad()

    private static let count = 50
    private static let writers = 4

    init(reader: any StorageClient, writer: any StorageClient) {
        self.reader = reader
        self.writer = writer
    }

    private static func room(_ number: Int) throws -> CollectionPath {
        try CollectionPath(validating: "rooms/r\(number)/seats")
    }

    /// - Parameter trouble: Made so many times, each after some more writes were acknowledged than before.
    func check(_ times: Int, trouble: () async throws -> Void) async throws {
        let current = TickList()
        let sums = try await withThrowingTaskGroup(of: (Int, Int64).self) { group in
            for number in 0..<Self.count {
                group.addTask { (number, try await follow(number, current)) }
            }
            try await eventually("all queries are current") { current.count == Self.count }
            async let writing: Void = write()
            for _ in 0..<times {
                let goal = load.total + 25
                try await eventually("more writes are acknowledged") { load.total >= goal }
                try await trouble()
            }
            load.end()
            try await writing
            // Written when all else has arrived, so whoever sees it must have seen everything.
            var last = WriteBatch()
            for number in 0..<Self.count { last.append(try .set(Self.room(number).document("last"), ["n": 0])) }
            try await writer.commit(last).acknowledged()
            return try await group.reduce(into: [Int: Int64]()) { $0[$1.0] = $1.1 }
        }
        #expect(sums == Dictionary(uniqueKeysWithValues: load.counts.enumerated().map { ($0, $1) }))
        #expect(load.total >= times * 25)
    }

    /// - Returns: The sum of all counts in the room, as the query showed it at the end.
    private func follow(_ number: Int, _ current: TickList) async throws -> Int64 {
        var list = FollowedList()
        var sum: Int64 = 0
        for try await snapshot in reader.snapshots(of: Query(in: try Self.room(number))) {
            list.follow(snapshot)
            if !snapshot.metadata.isFromCache { current.tick(number) }
            let before = sum
            sum = list.documents.reduce(0) { $0 + ($1["n"]?.integerValue ?? 0) }
            #expect(before <= sum, "a count never goes back")
            if list.documents.contains(where: { $0.id == "last" }), !snapshot.metadata.isFromCache { break }
        }
        return sum
    }

    /// Each write waits for the one before it; nothing is idempotent, so a commit that is sent twice shows.
    private func write() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.writers {
                group.addTask {
                    var number = worker
                    while !load.isOver {
                        let room = number % Self.count
                        let seat = try Self.room(room).document("s\(number % 3)")
                        try await writer.mergeDocument(seat, ["n": .increment(1)]).acknowledged()
                        load.note(room)
                        number += Self.writers
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private final class WriteLoad: Sendable {
        private let state = Mutex((isOver: false, counts: [Int64](repeating: 0, count: FiftyRooms.count)))

        var isOver: Bool { state.withLock { $0.isOver } }
        var counts: [Int64] { state.withLock { $0.counts } }
        var total: Int { state.withLock { Int($0.counts.reduce(0, +)) } }
        func note(_ room: Int) { state.withLock { $0.counts[room] += 1 } }
        func end() { state.withLock { $0.isOver = true } }
    }
}

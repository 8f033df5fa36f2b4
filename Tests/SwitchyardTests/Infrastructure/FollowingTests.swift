import SwitchyardTestSupport
import Synchronization
import Testing

@testable import Switchyard

/// Streams on a board whose clients are numbers, each of which stays open until it is left.
private final class Following: Sendable {
    let board = Switchboard(0)
    /// How many streams are open on each client.
    private let streams = Mutex<[Int: Int]>([:])
    private let probes = Mutex(0)

    typealias Iterator = SnapshotStream<Int, Never>.AsyncIterator

    var open: [Int: Int] { streams.withLock { $0.filter { $0.value != 0 } } }
    /// How many streams something still holds, be it a task that has not begun.
    var held: Int { probes.withLock { $0 } }

    private final class Probe: Sendable {
        let following: Following
        init(_ following: Following) {
            self.following = following
            following.probes.withLock { $0 += 1 }
        }
        deinit { following.probes.withLock { $0 -= 1 } }
    }

    func iterator() -> Iterator {
        let probe = Probe(self)
        return board.states("numbers", absent: -1) { client in
            SnapshotStream { continuation in
                probe.following.streams.withLock { $0[client, default: 0] += 1 }
                continuation.yield(client)
                return { probe.following.streams.withLock { $0[client, default: 0] -= 1 } }
            }
        }.makeAsyncIterator()
    }

    /// Iterators that have begun, on the client that is there now.
    func begin(_ count: Int) async -> [Iterator] {
        var iterators: [Iterator] = []
        for _ in 0..<count {
            var iterator = iterator()
            #expect(await iterator.next() != nil)
            iterators.append(iterator)
        }
        return iterators
    }
}

@Suite struct FollowingTests {
    // An exchange calls its followers in any order, so that one of many in one of several rounds comes after the one which
    // interferes is as good as certain.

    @Test func `An exchange that comes in late does not bring back the client before`() async throws {
        for _ in 0..<8 {
            let following = Following()
            let iterators = await following.begin(16)
            let unfollow = following.board.follow { target, _ in
                if target.client == 1 { following.board.connect(2) }
            }
            following.board.connect(1)
            try await eventually("all are on the last client", within: .seconds(20)) { following.open == [2: 16] }
            unfollow()
            withExtendedLifetime(iterators) {}
        }
    }

    @Test func `A consumer that leaves during an exchange leaves nothing behind`() async throws {
        for _ in 0..<8 {
            let following = Following()
            let iterators = Mutex(await following.begin(16))
            let unfollow = following.board.follow { target, _ in
                if target.client == 1 { iterators.withLock { $0 = [] } }
            }
            following.board.connect(1)
            try await eventually("nothing holds a stream", within: .seconds(20)) { following.held == 0 }
            #expect(following.open == [:])
            unfollow()
        }
    }

    @Test func `Whoever begins while clients are exchanged ends on the last`() async throws {
        for _ in 0..<500 {
            let following = Following()
            async let exchange: Void = {
                for client in 1...3 { following.board.connect(client) }
            }()
            let iterators = await following.begin(2)
            await exchange
            try await eventually("both are on the last client", within: .seconds(20)) { following.open == [3: 2] }
            withExtendedLifetime(iterators) {}
        }
    }

    @Test func `Events have begun with the client that stays, not with the one that an exchange ended`() async throws {
        let board = Switchboard(0)
        let opened = Mutex<[Int: EventStream<Int, StorageError>.Continuation]>([:])
        let hasTakenHold = Mutex(false)
        let stream = board.events("numbers") { client in
            EventStream<Int, StorageError>.announced { continuation in
                opened.withLock { $0[client] = continuation }
                return {}
            }
        }
        let beginning = Task {
            let begun = await stream.begun()
            return (begun, hasTakenHold.withLock { $0 })
        }
        try await eventually("the first client is asked") { opened.withLock { $0[0] != nil } }
        board.connect(1)
        try await eventually("the next one is asked") { opened.withLock { $0[1] != nil } }
        for _ in 0..<1000 { await Task.yield() }
        let second = try #require(opened.withLock { $0[1] })
        hasTakenHold.withLock { $0 = true }
        second.announce()
        let (begun, inTime) = await beginning.value
        #expect(inTime)
        second.yield(7)
        for try await event in begun {
            #expect(event == 7)
            break
        }
    }
}

extension Switchboard.Target {
    fileprivate var client: Client? { if case .connection(let connection) = self { connection.client } else { nil } }
}

import Switchyard
import SwitchyardSync
import SwitchyardSyncReference
import SwitchyardTestSupport
import Synchronization
import Testing

/// What an observer is told of the stream of changes.
@Suite(.timeLimit(.minutes(1))) struct ReconnectTests {
    private let server = ModelServer()
    private let log = EventLog()

    /// What a stream has shown last.
    private final class Newest: Sendable {
        private let number = Mutex<Int64?>(nil)
        var value: Int64? { number.withLock { $0 } }
        func show(_ snapshot: DocumentSnapshot) { number.withLock { $0 = snapshot["n"]?.integerValue } }
    }

    @Test func `Each attempt at a lost connection is told, and the next loss counts anew`() async throws {
        let clock = FastClock()
        let client = SyncedStorageClient(driver: ModelDriver(server, clock: clock), clock: clock, observer: log)
        let newest = Newest()
        let values = client.snapshots(of: "a/1" as StoragePath)
        let reader = Task {
            for try await snapshot in values { newest.show(snapshot) }
        }
        func write(_ number: Int64) async throws {
            _ = try server.commit([.set("a/1", ["n": .value(.integer(number))])])
            try await eventually("the stream shows it") { newest.value == number }
        }
        try await eventually("it is watched") { await client.engine.watchedTargetCount == 1 }
        try await write(1)
        #expect(log.reconnects == [])

        server.setReachable(false)
        try await eventually("three attempts") { log.reconnects.count >= 3 }
        server.setReachable(true)
        try await write(2)
        let attempts = log.reconnects
        #expect(attempts == Array(1...attempts.count))

        server.dropConnections()
        try await write(3)
        #expect(log.reconnects == attempts + [1])
        #expect(log.all.allSatisfy { $0.service == .storage && $0.provider == client.provider })
        reader.cancel()
        await client.shutDown()
    }
}

import Switchyard
import SwitchyardConformance
import SwitchyardSync
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

    @Test func `Each attempt at a lost connection is reported, and the next loss counts from the start`() async throws {
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

    /// What a stream has shown last, with all its metadata.
    private final class Shown: Sendable {
        private let last = Mutex<SnapshotMetadata?>(nil)
        var metadata: SnapshotMetadata? { last.withLock { $0 } }
        func note(_ metadata: SnapshotMetadata) { last.withLock { $0 = metadata } }
    }

    @Test func `Results from the cache say why the server has not confirmed them, until it has`() async throws {
        let clock = FastClock()
        let client = SyncedStorageClient(driver: ModelDriver(server, clock: clock), clock: clock)
        _ = try server.commit([.set("a/1", ["n": 1])])
        _ = try await client.documents(Query(in: "a"))
        server.setReachable(false)
        // One has something to show before the server is asked, the other has not.
        let (some, none, document) = (Shown(), Shown(), Shown())
        let options = ListenOptions(includesMetadataChanges: true)
        let readers = [
            Task {
                for try await snapshot in client.snapshots(of: Query(in: "a"), options: options) {
                    some.note(snapshot.metadata)
                }
            },
            Task {
                for try await snapshot in client.snapshots(of: Query(in: "b"), options: options) {
                    none.note(snapshot.metadata)
                }
            },
            Task {
                for try await snapshot in client.snapshots(of: "a/1" as StoragePath, options: options) {
                    document.note(snapshot.metadata)
                }
            },
        ]
        for shown in [some, none, document] {
            try await eventually("it says why") { shown.metadata?.serverError != nil }
            #expect(shown.metadata?.isFromCache == true && shown.metadata?.serverError?.isRetryable == true)
        }
        let read = try await client.documents(Query(in: "a"))
        #expect(read.metadata.isFromCache && read.metadata.serverError?.code == .unavailable)
        #expect(read.documents.first?.metadata.serverError?.code == .unavailable)
        server.setReachable(true)
        for shown in [some, none, document] {
            try await eventually("the server has confirmed it") { shown.metadata?.isFromCache == false }
            #expect(shown.metadata?.serverError == nil)
        }
        #expect(try await client.documents(Query(in: "a")).metadata.serverError == nil)
        for reader in readers { reader.cancel() }
        await client.shutDown()
    }
}

import Switchyard
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

/// Clients that each serve one request, and whose streams share what they need.
@Suite struct SharedEnginesTests {
    /// The connections for changes, by the tokens that they were opened with.
    private final class Lines: Sendable {
        private struct State {
            var opened: [String] = []
            var open: Set<ObjectIdentifier> = []
            var refused: Set<String> = []
            /// For each commit, whether it went through a driver made for streams.
            var commits: [Bool] = []
            /// The same for drivers that were shut down.
            var ended: [Bool] = []
        }

        private let state = Mutex(State())

        /// All that there have been.
        var opened: [String] { state.withLock { $0.opened } }
        /// How many are open.
        var count: Int { state.withLock { $0.open.count } }

        var commits: [Bool] { state.withLock { $0.commits } }
        var ended: [Bool] { state.withLock { $0.ended } }

        func noteCommit(isForStreams: Bool) { state.withLock { $0.commits.append(isForStreams) } }
        func noteEnd(isForStreams: Bool) { state.withLock { $0.ended.append(isForStreams) } }
        func refuse(_ token: String) { state.withLock { _ = $0.refused.insert(token) } }

        func open(_ watch: AnyObject, with token: String) throws(StorageError) {
            let isTaken = state.withLock { state in
                guard !state.refused.contains(token) else { return false }
                state.opened.append(token)
                state.open.insert(ObjectIdentifier(watch))
                return true
            }
            guard isTaken else { throw StorageError(.unauthenticated, "The token has run out.") }
        }

        func close(_ watch: AnyObject) { state.withLock { _ = $0.open.remove(ObjectIdentifier(watch)) } }
    }

    private final class Watch: WatchConnection {
        private let base: any WatchConnection
        private let lines: Lines

        init(_ base: any WatchConnection, _ lines: Lines) {
            self.base = base
            self.lines = lines
        }

        func send(_ request: WatchRequest) { base.send(request) }
        func next() async throws(StorageError) -> WatchEvent? { try await base.next() }
        func close() {
            base.close()
            lines.close(self)
        }
    }

    private struct Driver: ForwardingDriver {
        let base: TinyDriver
        let token: String
        let lines: Lines
        /// Whether it makes another driver for streams.
        var splits = false
        var isForStreams = false

        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            lines.noteCommit(isForStreams: isForStreams)
            return try await base.commit(batch)
        }
        func makeStreamDriver() -> (any SyncDriver)? {
            guard splits else { return nil }
            var driver = self
            driver.isForStreams = true
            return driver
        }
        func shutDown() async { lines.noteEnd(isForStreams: isForStreams) }
        func openWatch() async throws(StorageError) -> any WatchConnection {
            let watch = Watch(try await base.openWatch(), lines)
            try lines.open(watch, with: token)
            return watch
        }
    }

    private let server = TinyServer()
    private let lines = Lines()
    private let engines = SharedEngines()
    private let path: StoragePath = "notes/a"

    private func client(_ token: String, of user: String = "ada", splits: Bool = false) -> DirectStorageClient {
        DirectStorageClient(
            Driver(base: TinyDriver(server: server), token: token, lines: lines, splits: splits),
            token: Secret(token), userID: user, engines: engines)
    }

    @Test func `Streams of clients with one token share a connection, which goes with the last of them`() async throws {
        let (first, second) = (client("one"), client("one"))
        try await first.setDocument(path, ["n": 1])
        #expect(engines.count == 0, "who opens no stream needs none")
        let readers = [FollowedDocument(path, on: first), FollowedDocument(path, on: second)]
        for reader in readers { try await eventually("the document") { reader.number == 1 } }
        #expect(lines.opened == ["one"] && engines.count == 1)
        readers[0].leave()
        try await eventually("one stream is left") { first.openStreams == 1 }
        try await first.setDocument(path, ["n": 2])
        try await eventually("the other stream goes on") { readers[1].number == 2 }
        #expect(lines.count == 1)
        readers[1].leave()
        try await eventually("the connection is closed") { lines.count == 0 && engines.count == 0 }
        #expect(lines.opened == ["one"])
        // The next one begins again.
        let next = FollowedDocument(path, on: second)
        try await eventually("the document") { next.number == 2 }
        #expect(lines.opened == ["one", "one"])
        next.leave()
        try await eventually("the connection is closed") { lines.count == 0 }
    }

    @Test func `Callers share nothing, and neither do two tokens of one of them`() async throws {
        let clients = [client("one"), client("newer"), client("bens", of: "ben")]
        try await clients[0].setDocument(path, ["n": 1])
        let readers = clients.map { FollowedDocument(path, on: $0) }
        for reader in readers { try await eventually("the document") { reader.number == 1 } }
        #expect(lines.opened.sorted() == ["bens", "newer", "one"] && engines.count == 3)
        for reader in readers { reader.leave() }
        try await eventually("all are closed") { lines.count == 0 && engines.count == 0 }
    }

    @Test func `A token that is not taken any more ends its streams, and none of a newer token's`() async throws {
        let (old, new) = (client("old"), client("new"))
        try await new.setDocument(path, ["n": 1])
        let going = FollowedDocument(path, on: new)
        try await eventually("the document") { going.number == 1 }
        lines.refuse("old")
        let ending = FollowedDocument(path, on: old)
        try await eventually("the stream has ended") { ending.failure != nil }
        #expect(ending.failure?.code == .unauthenticated)
        try await new.setDocument(path, ["n": 2])
        try await eventually("the other goes on") { going.number == 2 }
        #expect(going.failure == nil)
        going.leave()
        try await eventually("its connection is closed") { lines.count == 0 && engines.count == 0 }
    }

    @Test func `A client that is shut down ends its own streams, and no other client's`() async throws {
        let (first, second) = (client("one"), client("one"))
        try await first.setDocument(path, ["n": 1])
        let (ending, going) = (FollowedDocument(path, on: first), FollowedDocument(path, on: second))
        for reader in [ending, going] { try await eventually("the document") { reader.number == 1 } }
        await first.shutDown()
        try await eventually("its stream has ended") { ending.failure?.code == .shutDown }
        #expect(second.openStreams == 1)
        let late = FollowedDocument(path, on: first)
        try await eventually("a later one ends at once") { late.failure?.code == .shutDown }
        try await second.setDocument(path, ["n": 2])
        try await eventually("the other goes on") { going.number == 2 }
        #expect(lines.opened == ["one"])
        going.leave()
        try await eventually("the connection is closed") { lines.count == 0 }
    }

    @Test func `A driver for streams takes all writes with the token while it is there, and ends with the engine`()
        async throws
    {
        let (first, second) = (client("one", splits: true), client("one", splits: true))
        try await first.setDocument(path, ["n": 1])
        #expect(lines.commits == [false])
        let reader = FollowedDocument(path, on: first)
        try await eventually("the document") { reader.number == 1 }
        // From a client without a stream of its own, too, but not with another token.
        try await second.setDocument(path, ["n": 2])
        try await client("other", splits: true).setDocument(path, ["n": 3])
        try await eventually("the change") { reader.number == 3 }
        #expect(lines.commits == [false, true, false] && lines.ended.isEmpty)
        reader.leave()
        try await eventually("it is shut down") { lines.ended == [true] }
        try await first.setDocument(path, ["n": 4])
        #expect(lines.commits == [false, true, false, false] && lines.count == 0)
    }

    @Test func `When the engines are shut down, all streams end`() async throws {
        let clients = [client("one"), client("one"), client("bens", of: "ben")]
        try await clients[0].setDocument(path, ["n": 1])
        let readers = clients.map { FollowedDocument(path, on: $0) }
        for reader in readers { try await eventually("the document") { reader.number == 1 } }
        await engines.shutDown()
        for reader in readers { try await eventually("it has ended") { reader.failure?.code == .shutDown } }
        let late = FollowedDocument(path, on: clients[0])
        try await eventually("a later one ends at once") { late.failure?.code == .shutDown }
        #expect(lines.count == 0 && engines.count == 0)
    }
}

import Foundation
import Switchyard
import SwitchyardSync
import Synchronization

/// One stream of a ``ModelServer``. A reporter decides what it sends; this loses, delays and doubles it.
final class ModelConnection: WatchConnection {
    let id: Int
    /// The versions of its device, if those are not the server's.
    let sequence: ModelSequence?
    private let server: ModelServer
    private let clock: any Clock<Duration>
    private let state: Mutex<State>
    private let buffer = StreamBuffer<WatchEvent, StorageError>(.all)

    private struct State {
        var reporter: any ModelReporter
        var isOver = false
        /// An event that is sent a second time.
        var again: WatchEvent?
    }

    init(server: ModelServer, id: Int, reporter: any ModelReporter, clock: any Clock<Duration>) {
        sequence = (reporter as? RowReporter)?.sequence
        self.server = server
        self.id = id
        self.clock = clock
        state = Mutex(State(reporter: reporter))
    }

    func next() async throws(StorageError) -> WatchEvent? {
        if let again = state.withLock({ $0.again.take() }) { return again }
        guard let event = try await buffer.next() else { return nil }
        try await clock.pause(server.delay())
        if server.happens(\.brokenStreams) {
            close()
            throw ModelServer.unreachable
        }
        if event.mayComeTwice, server.happens(\.doubledEvents) { state.withLock { $0.again = event } }
        return event
    }

    func close() {
        state.withLock { $0.isOver = true }
        server.disconnect(id)
        buffer.finish(.success(()))
    }

    func fail(_ error: StorageError) {
        state.withLock { $0.isOver = true }
        buffer.finish(.failure(error))
    }

    func send(_ request: WatchRequest) {
        // The server's lock is taken first, both here and when it reports a change, so that events stay in the order of
        // commits.
        server.state.withLock { world in
            report { reporter in
                switch request {
                case .add(let target): return reporter.add(target, world)
                case .remove(let id):
                    reporter.remove(id)
                    return [.removed([id])]
                }
            }
        }
    }

    /// Sends the difference from what was sent before, as one snapshot, if any of the documents can concern a target.
    func serverChanged(_ touched: [StoragePath], _ world: ModelServer.State) {
        report { $0.changes(at: touched, world) }
    }

    /// Compares everything with the server.
    func check(_ world: ModelServer.State) { report { $0.check(world) } }

    /// A commit of this device was answered: what was read of its documents before may be older.
    func noteAnswer(_ paths: [StoragePath], _ world: ModelServer.State) { report { $0.readAgain(paths, world) } }

    private func report(_ body: (inout any ModelReporter) -> [WatchEvent]) {
        state.withLock { state in
            guard !state.isOver else { return }
            for event in body(&state.reporter) { buffer.yield(event) }
        }
    }
}

/// What a stream reports about its targets. Called under the server's lock.
protocol ModelReporter: Sendable {
    mutating func add(_ target: TargetRequest, _ world: ModelServer.State) -> [WatchEvent]
    mutating func remove(_ id: Int)
    mutating func changes(at touched: [StoragePath], _ world: ModelServer.State) -> [WatchEvent]
    mutating func check(_ world: ModelServer.State) -> [WatchEvent]
    mutating func readAgain(_ paths: [StoragePath], _ world: ModelServer.State) -> [WatchEvent]
}

extension WatchEvent {
    /// Answers to requests are counted, so they are sent once per stream.
    fileprivate var mayComeTwice: Bool {
        switch self {
        case .changed, .deleted, .left, .snapshot, .token, .results: true
        case .added, .removed, .current, .reset, .filter: false
        }
    }
}

extension WatchTarget {
    func canHold(anyOf paths: [StoragePath]) -> Bool {
        switch self {
        case .document(let path): paths.contains(path)
        case .query(let query):
            switch query.source {
            case .collection(let collection): paths.contains { $0.collection == collection }
            case .group(let id, let ancestor): paths.contains { $0.collection.isInGroup(id, under: ancestor) }
            }
        }
    }
}

import Foundation
import Switchyard
import SwitchyardSync
import Synchronization

/// One stream of a ``ModelServer``: sends deltas, and after a resume what changed since the token and an existence filter.
final class ModelConnection: WatchConnection {
    let id: Int
    private let server: ModelServer
    private let clock: any Clock<Duration>
    private let state = Mutex(State())
    private let buffer = StreamBuffer<WatchEvent, StorageError>(.all)

    private struct State {
        var targets: [Int: WatchTarget] = [:]
        /// The documents of each target as they were sent.
        var told: [Int: [StoragePath: DocumentSnapshot]] = [:]
        var isOver = false
        /// An event that is sent a second time.
        var again: WatchEvent?
    }

    init(server: ModelServer, id: Int, clock: any Clock<Duration>) {
        self.server = server
        self.id = id
        self.clock = clock
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
            state.withLock { state in
                guard !state.isOver else { return }
                switch request {
                case .add(let target): add(target, &state, world)
                case .remove(let id):
                    state.targets[id] = nil
                    state.told[id] = nil
                    buffer.yield(.removed([id]))
                }
            }
        }
    }

    /// Sends the difference from what was sent before, as one snapshot, if any of the documents can concern a target.
    func serverChanged(_ touched: [StoragePath], _ world: ModelServer.State) {
        state.withLock { state in
            guard !state.isOver else { return }
            let concerned = state.targets.filter { $0.value.canHold(anyOf: touched) }.keys.sorted()
            guard !concerned.isEmpty else { return }
            for id in concerned { tell(id, &state, world) }
            buffer.yield(.snapshot(version: Timestamp(microseconds: world.time), token: token(world.time)))
        }
    }

    private func add(_ target: TargetRequest, _ state: inout State, _ world: ModelServer.State) {
        buffer.yield(.added([target.id]))
        state.targets[target.id] = target.target
        var since = time(of: target.resumeToken) ?? target.readTime?.microseconds
        if since != nil, case .query(let query) = target.target, query.limit != nil {
            // A document that moved up into the result need not have changed, so the whole result is sent again.
            buffer.yield(.reset([target.id]))
            since = nil
        }
        let matches = matches(of: target.target, world)
        state.told[target.id] = matches
        for document in matches.values.sorted(by: { $0.path < $1.path }) {
            if let since, world.changed[document.path] ?? 0 <= since { continue }
            buffer.yield(.changed(document, targets: [target.id]))
        }
        if since != nil { buffer.yield(.filter(target: target.id, count: matches.count)) }
        buffer.yield(.current([target.id], token: token(world.time)))
        buffer.yield(.snapshot(version: Timestamp(microseconds: world.time), token: token(world.time)))
    }

    private func tell(_ id: Int, _ state: inout State, _ world: ModelServer.State) {
        guard let target = state.targets[id] else { return }
        let old = state.told[id] ?? [:]
        let new = matches(of: target, world)
        for path in old.keys.filter({ new[$0] == nil }).sorted() {
            if world[path] == nil {
                buffer.yield(.deleted(path, version: Timestamp(microseconds: world.time), removedFrom: [id]))
            } else {
                buffer.yield(.left(path, removedFrom: [id]))
            }
        }
        for path in new.keys.filter({ old[$0] != new[$0] }).sorted() {
            buffer.yield(.changed(new[path]!, targets: [id]))
        }
        state.told[id] = new
    }

    private func matches(of target: WatchTarget, _ world: ModelServer.State) -> [StoragePath: DocumentSnapshot] {
        switch target {
        case .document(let path): return world[path].map { [path: $0] } ?? [:]
        case .query(let query):
            return Dictionary(world.results(of: query).map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    private func token(_ time: Int64) -> [UInt8] { Array(String(time).utf8) }
    private func time(of token: [UInt8]) -> Int64? { Int64(String(decoding: token, as: UTF8.self)) }
}

extension WatchEvent {
    /// Answers to requests are counted, so they are sent once per stream.
    fileprivate var mayComeTwice: Bool {
        switch self {
        case .changed, .deleted, .left, .snapshot, .token: true
        case .added, .removed, .current, .reset, .filter, .results: false
        }
    }
}

extension WatchTarget {
    fileprivate func canHold(anyOf paths: [StoragePath]) -> Bool {
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

import Switchyard
import SwitchyardSync

/// Reports deltas, and after a resume what changed since the token and an existence filter.
struct DeltaReporter: ModelReporter {
    private var targets: [Int: WatchTarget] = [:]
    /// The documents of each target as they were sent.
    private var sent: [Int: [StoragePath: DocumentSnapshot]] = [:]

    mutating func add(_ target: TargetRequest, _ world: ModelServer.State) -> [WatchEvent] {
        var events: [WatchEvent] = [.added([target.id])]
        targets[target.id] = target.target
        var since = time(of: target.resumeToken) ?? target.readTime?.microseconds
        if since != nil, case .query(let query) = target.target, query.limit != nil {
            // A document that moved up into the result need not have changed, so the whole result is sent again.
            events.append(.reset([target.id]))
            since = nil
        }
        let matches = matches(of: target.target, world)
        sent[target.id] = matches
        for document in matches.values.sorted(by: { $0.path < $1.path }) {
            if let since, world.changed[document.path] ?? 0 <= since { continue }
            events.append(.changed(document, targets: [target.id]))
        }
        if since != nil { events.append(.filter(target: target.id, count: matches.count)) }
        events.append(.current([target.id], token: token(world.time)))
        return events + [snapshot(world)]
    }

    mutating func remove(_ id: Int) {
        targets[id] = nil
        sent[id] = nil
    }

    mutating func changes(at touched: [StoragePath], _ world: ModelServer.State) -> [WatchEvent] {
        let concerned = targets.filter { $0.value.canHold(anyOf: touched) }.keys.sorted()
        return concerned.isEmpty ? [] : concerned.flatMap { changes(of: $0, world) } + [snapshot(world)]
    }

    mutating func check(_ world: ModelServer.State) -> [WatchEvent] {
        targets.keys.sorted().flatMap { changes(of: $0, world) } + [snapshot(world)]
    }

    /// Versions are the server's, so there is no ambiguity.
    mutating func readAgain(_ paths: [StoragePath], _ world: ModelServer.State) -> [WatchEvent] { [] }

    private mutating func changes(of id: Int, _ world: ModelServer.State) -> [WatchEvent] {
        guard let target = targets[id] else { return [] }
        var events: [WatchEvent] = []
        let old = sent[id] ?? [:]
        let new = matches(of: target, world)
        for path in old.keys.filter({ new[$0] == nil }).sorted() {
            if world[path] == nil {
                events.append(.deleted(path, version: Timestamp(microseconds: world.time), removedFrom: [id]))
            } else {
                events.append(.left(path, removedFrom: [id]))
            }
        }
        for path in new.keys.filter({ old[$0] != new[$0] }).sorted() {
            events.append(.changed(new[path]!, targets: [id]))
        }
        sent[id] = new
        return events
    }

    private func matches(of target: WatchTarget, _ world: ModelServer.State) -> [StoragePath: DocumentSnapshot] {
        switch target {
        case .document(let path): return world[path].map { [path: $0] } ?? [:]
        case .query(let query):
            return Dictionary(world.results(of: query).map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    private func snapshot(_ world: ModelServer.State) -> WatchEvent {
        .snapshot(version: Timestamp(microseconds: world.time), token: token(world.time))
    }

    private func token(_ time: Int64) -> [UInt8] { Array(String(time).utf8) }
    private func time(of token: [UInt8]) -> Int64? { Int64(String(decoding: token, as: UTF8.self)) }
}

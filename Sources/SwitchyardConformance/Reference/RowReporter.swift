import Switchyard
import SwitchyardSync

/// Reports rows with tags, and results in the server's order.
///
/// Each time it reads the rows as of now and reports those of which the device has another tag: that is all a driver for tables
/// can do, too, with its digests.
struct RowReporter: ModelReporter {
    let sequence: ModelSequence
    private var targets: [Int: WatchTarget] = [:]
    /// The tags that the device has, by target.
    private var sent: [Int: [StoragePath: DocumentTag]] = [:]

    init(_ sequence: ModelSequence) { self.sequence = sequence }

    mutating func add(_ target: TargetRequest, _ world: ModelServer.State) -> [WatchEvent] {
        targets[target.id] = target.target
        sent[target.id] = target.knownTags
        let version = sequence.next()
        return [.added([target.id])] + rows(of: target.id, world, version)
            + [.current([target.id]), .snapshot(version: version)]
    }

    mutating func remove(_ id: Int) {
        targets[id] = nil
        sent[id] = nil
    }

    mutating func changes(at touched: [StoragePath], _ world: ModelServer.State) -> [WatchEvent] {
        // Each stream draws of its own.
        var faultState = ModelFaultState(seed: UInt64(sequence.next().microseconds) &+ world.faultState.seed)
        return faultState.happens(world.faultState.faults.lostHints) ? [] : rows(at: touched, world)
    }

    mutating func check(_ world: ModelServer.State) -> [WatchEvent] { rows(at: nil, world) }

    mutating func readAgain(_ paths: [StoragePath], _ world: ModelServer.State) -> [WatchEvent] {
        for id in sent.keys { for path in paths { sent[id]?[path] = nil } }
        return rows(at: paths, world)
    }

    private mutating func rows(at paths: [StoragePath]?, _ world: ModelServer.State) -> [WatchEvent] {
        let concerned = targets.keys.filter { id in paths.map { targets[id]!.canHold(anyOf: $0) } ?? true }.sorted()
        guard !concerned.isEmpty else { return [] }
        let version = sequence.next()
        return concerned.flatMap { rows(of: $0, world, version) } + [.snapshot(version: version)]
    }

    private mutating func rows(of id: Int, _ world: ModelServer.State, _ version: Timestamp) -> [WatchEvent] {
        guard let target = targets[id] else { return [] }
        let rows: [ModelRow] =
            switch target {
            case .document(let path): [world.row(at: path)].filter { $0.data != nil }
            case .query(let query): world.rows(of: query)
            }
        var events: [WatchEvent] = []
        let old = sent[id] ?? [:]
        var tags: [StoragePath: DocumentTag] = [:]
        for row in rows {
            tags[row.path] = row.tag
            guard old[row.path] != row.tag, let data = row.data else { continue }
            events.append(.changed(.existing(row.path, data, updateTime: version), targets: [id], tag: row.tag))
        }
        for path in old.keys.filter({ tags[$0] == nil }).sorted() where world.row(at: path).data == nil {
            events.append(.deleted(path, version: version, removedFrom: [id]))
        }
        sent[id] = tags
        if case .query = target { events.append(.results(target: id, rows.map(\.path))) }
        return events
    }
}

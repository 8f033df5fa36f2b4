import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// The targets of a stream that are in tables, and what has been reported about them.
///
/// Pure: takes requests and answers, returns events.
struct RowTargets {
    struct Target: Sendable {
        let id: Int
        let place: TableMappings.Place
        let watched: WatchTarget
        /// Distinguishes this target from an earlier one with the same ID.
        let generation: Int
        var isNew = true
        /// The number of consecutive checks that read only keys and versions: adding a column does not change versions.
        fileprivate(set) var digests = 0
        /// The reported results, and their marks.
        fileprivate(set) var known: [StoragePath: String] = [:]
        /// The reported results in order.
        fileprivate var order: [StoragePath] = []
        /// When this client's last write was acknowledged, if no later results have been reported.
        fileprivate var owed: Timestamp?

        /// The number of rows up to which a target is read in full.
        private static let small = 100
        private static let maximumDigests = 20

        /// Whether keys and versions are enough to find changes.
        var suitsDigest: Bool { known.count > Self.small && digests < Self.maximumDigests }
    }

    /// The result of checking a target.
    struct Found: Sendable {
        let version: Timestamp
        /// The results in the service's order, each with a mark that differs when the row does: its tag, or part of its
        /// contents if rows have no versions.
        var results: [(path: StoragePath, mark: String)] = []
        /// Whether the marks are tags.
        var hasTags = true
        /// Whether only keys and versions have been read, and what differs.
        var isDigest = false
        /// The rows that were read, including former results.
        var documents: [StoragePath: DocumentSnapshot] = [:]
        /// Whether another check is needed: a row may be older than what this client has written.
        var isSettled = true
    }

    private(set) var targets: [Int: Target] = [:]
    /// The targets to check.
    private var due: Set<Int> = []
    private var generations = 0
    private let reader: String

    init(reader: String) { self.reader = reader }

    var topics: Set<HintTopic> { Set(targets.values.map(\.place.table.topic)) }

    /// - Parameter known: The documents that the device has as the service gave them to this process, with their tags.
    /// - Returns: The answer: each request has one, also one that is withdrawn before the first check.
    mutating func add(
        _ request: TargetRequest, in place: TableMappings.Place, known: [StoragePath: DocumentTag] = [:]
    ) -> [WatchEvent] {
        generations += 1
        var target = Target(id: request.id, place: place, watched: request.target, generation: generations)
        if case .query = request.target { target.known = known.mapValues(\.rawValue) }
        targets[request.id] = target
        due.insert(request.id)
        return [.added([request.id])]
    }

    mutating func remove(_ id: Int) {
        targets[id] = nil
        due.remove(id)
    }

    // MARK: What to check

    var areDue: Bool { !due.isEmpty }

    /// - Parameter topic: What has announced a change; `nil` if anything may have changed.
    mutating func markDue(on topic: HintTopic? = nil) {
        due.formUnion(targets.values.filter { topic == nil || $0.place.table.topic == topic }.map(\.id))
    }

    mutating func markDue(_ id: Int) { due.insert(id) }

    mutating func takeDue() -> [Target] {
        defer { due = [] }
        return due.sorted().compactMap { targets[$0] }
    }

    /// Makes the next check report these documents again, and the results: an answer on its way may be older than this client's own
    /// write, which is shown as it was sent until later results replace it.
    mutating func forget(_ paths: Set<StoragePath>, writtenBy version: Timestamp) {
        for id in targets.keys {
            var isConcerned = false
            for path in paths where targets[id]?.place.table.parents(of: path.collection) != nil {
                isConcerned = true
                if targets[id]?.known[path] != nil { targets[id]?.known[path] = "" }
            }
            guard isConcerned else { continue }
            targets[id]?.owed = version
            due.insert(id)
        }
    }

    /// The events of a check; none if the target was replaced or is unchanged.
    mutating func take(_ found: Found, for asked: Target) -> [WatchEvent] {
        guard var target = targets[asked.id], target.generation == asked.generation else { return [] }
        let id = target.id
        var events: [WatchEvent] = target.isNew && target.known.isEmpty ? [.reset([id])] : []
        var marks: [StoragePath: String] = [:]
        for (path, mark) in found.results {
            marks[path] = mark
            guard target.known[path] != mark else { continue }
            // Rows that were not read are read at the next check.
            guard let document = found.documents[path] else {
                marks[path] = target.known[path]
                continue
            }
            events.append(
                .changed(document, targets: [id], tag: found.hasTags ? DocumentTag(rawValue: mark) : nil))
        }
        for path in target.known.keys.sorted() where marks[path] == nil {
            if case .document = target.watched { continue }
            if let document = found.documents[path] {
                events.append(.changed(document, targets: [], removedFrom: [id]))
            } else {
                events.append(.deleted(path, version: found.version, removedFrom: [id]))
            }
        }
        if case .query = target.watched {
            let order = found.results.map(\.path).filter { marks[$0] != nil }
            // Also if a document has changed: an acknowledged write keeps its position until the results are reported.
            let isOwed = target.owed.map { $0 < found.version } ?? false
            if target.isNew || order != target.order || !events.isEmpty || isOwed {
                events.append(.results(target: id, order))
            }
            if isOwed { target.owed = nil }
            target.order = order
        }
        if case .document(let path) = target.watched, marks[path] == nil, target.isNew || target.known[path] != nil {
            events.append(.deleted(path, version: found.version, removedFrom: [id]))
        }
        if target.isNew { events.append(.current([id], token: Array("rows|\(reader)".utf8))) }
        target.isNew = false
        target.digests = found.isDigest ? target.digests + 1 : 0
        target.known = marks
        targets[id] = target
        return events
    }

    /// The event for a target that cannot be watched.
    mutating func fail(_ asked: Target, _ cause: StorageError) -> [WatchEvent] {
        guard targets[asked.id]?.generation == asked.generation else { return [] }
        targets[asked.id] = nil
        return [.removed([asked.id], cause: cause)]
    }
}

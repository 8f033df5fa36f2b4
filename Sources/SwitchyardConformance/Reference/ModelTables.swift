public import Switchyard
import SwitchyardSync
import Synchronization

/// The properties of the tables of a ``ModelServer``: rows that are versioned by tags alone, without a clock or a
/// ledger.
public struct ModelTables: Sendable {
    /// Rewrites each row that is written, as a trigger does.
    public var trigger: @Sendable (DocumentData) -> DocumentData = { $0 }
    /// The text by which a text is compared and sorted, as a collation does.
    public var collation: @Sendable (String) -> String = { $0 }
    /// Whether a commit returns the rows that it wrote.
    public var returnsRows = true
    /// The IDs of collections whose rows get their keys from the server, which counts. On a device, their names begin with a minus
    /// until then.
    package var counted: Set<String> = []

    public init() {}
}

/// The state of a server's tables, next to its documents.
struct ModelTableState {
    /// The tag of each row: the number of the commit that wrote it.
    var tags: [StoragePath: Int] = [:]
    var lastTag = 0
    var isHidden: @Sendable (StoragePath) -> Bool = { _ in false }
    /// Why commits currently fail, without having been refused.
    var trouble: StorageError?
    /// Commits that wait for a lock, although their sender lost the connection.
    var held: [HeldCommit] = []
    var lastKey = 0
    /// The rows that batches added, by the value that each has in a unique column: the name of the batch.
    var witnesses: [String: StoragePath] = [:]
    /// The batches that took effect, in order.
    var log: [ModelServer.CarriedOut] = []
}

/// A commit that takes effect later, or never.
struct HeldCommit {
    let batch: OutgoingBatch
    let conditions: [StoragePath: DocumentTag?]
}

/// A row as it was read; `nil` for one that is not there, or that may not be seen.
struct ModelRow: Sendable {
    let path: StoragePath
    let data: DocumentData?
    let tag: DocumentTag?
}

/// The versions of one device: numbers that it counts itself.
final class ModelSequence: Sendable {
    private struct State {
        var last: Int64 = 0
        var answers = 0
    }

    private let state = Mutex(State())

    func begin(after version: Timestamp) { state.withLock { $0.last = max($0.last, version.microseconds) } }

    func next() -> Timestamp {
        state.withLock {
            $0.last += 1
            return Timestamp(microseconds: $0.last)
        }
    }

    /// The version of a commit, when its answer has arrived.
    func noteAnswer() -> Timestamp {
        state.withLock { $0.answers += 1 }
        return next()
    }

    /// How many commits were answered. A read during which the number changed may be older than one of them.
    var answers: Int { state.withLock { $0.answers } }
}

extension ModelTables {
    func isProvisional(_ path: StoragePath) -> Bool {
        counted.contains(path.collection.id) && path.id.utf8.first == UInt8(ascii: "-")
    }
}

extension DocumentWrite {
    /// Whether it writes to such a document, below it, or refers to it.
    func mentions(_ isMeant: (StoragePath) -> Bool) -> Bool {
        if path.mentions(isMeant) { return true }
        return switch operation {
        case .set(let data), .patch(let data, _): data.contains { $0.value.mentions(isMeant) }
        case .delete, .verify: false
        }
    }
}

extension StoragePath {
    fileprivate func mentions(_ isMeant: (StoragePath) -> Bool) -> Bool {
        isMeant(self) || parent?.mentions(isMeant) ?? false
    }
}

extension DocumentValue {
    fileprivate func mentions(_ isMeant: (StoragePath) -> Bool) -> Bool {
        switch self {
        case .reference(let reference): reference.path.mentions(isMeant)
        case .array(let elements): elements.contains { $0.mentions(isMeant) }
        case .map(let data): data.contains { $0.value.mentions(isMeant) }
        default: false
        }
    }
}

import Switchyard

/// The streams of the queue, and their current list.
struct QueueWatchers {
    private var continuations: [Int: SnapshotStream<[PendingWrite], StorageError>.Continuation] = [:]
    /// Follows the changes while there are watchers: rereading a long queue after each answer would take longer than sending
    /// it.
    private(set) var list: [PendingWrite] = []
    /// Who needs the list without a stream of it.
    private var followers: Set<Int> = []

    var count: Int { continuations.count }
    var isFollowed: Bool { !continuations.isEmpty || !followers.isEmpty }

    /// - Parameter queue: The current queue.
    mutating func add(
        _ id: Int, _ continuation: SnapshotStream<[PendingWrite], StorageError>.Continuation,
        seeing queue: [PendingWrite]
    ) {
        list = queue
        continuations[id] = continuation
        continuation.yield(list)
    }

    /// Keeps the list up to date until `id` is removed.
    mutating func follow(_ id: Int, seeing queue: [PendingWrite]) {
        list = queue
        followers.insert(id)
    }

    mutating func remove(_ id: Int) {
        continuations[id] = nil
        followers.remove(id)
        if !isFollowed { list = [] }
    }

    /// - Returns: The removed watchers.
    mutating func removeAll() -> some Sequence<SnapshotStream<[PendingWrite], StorageError>.Continuation> {
        defer { self = QueueWatchers() }
        return continuations.values
    }

    mutating func show(_ queue: [PendingWrite]) {
        list = queue
        for continuation in continuations.values { continuation.yield(list) }
    }

    mutating func show(_ changes: [QueueChange], _ write: (QueuedBatch) -> PendingWrite) {
        var queue = list
        list = []  // while both had it, the first change would copy everything
        for change in changes {
            switch change {
            case .added(let batch): queue.append(write(batch))
            case .tried(let batch), .renamed(let batch):
                if let index = queue.index(of: batch) { queue[index] = write(batch) }
            case .left(let batch):
                if let index = queue.index(of: batch) { queue.remove(at: index) }
            case .replaced: break
            }
        }
        show(queue)
    }
}

extension [PendingWrite] {
    /// Answers concern the front of the queue, so this search is short.
    fileprivate func index(of batch: QueuedBatch) -> Int? { firstIndex { $0.id == batch.id } }
}

extension PendingWrite {
    init(_ batch: QueuedBatch, _ trouble: SendFailure?) {
        self.init(
            id: batch.id, batch: WriteBatch(batch.writes), queuedAt: batch.queuedAt, attempts: batch.attempts,
            lastError: trouble?.error
                ?? batch.lastError.map { StorageError($0, "An earlier attempt to send it failed.") },
            nextAttempt: trouble?.nextAttempt)
    }
}

extension RefusedWrite {
    init(_ batch: RefusedBatch) {
        self.init(
            id: batch.id, batch: WriteBatch(batch.writes), refusedAt: batch.refusedAt,
            error: StorageError(batch.code, batch.message).asRefusal(!batch.isSalvaged))
    }
}

import Switchyard

/// The queue as the user sees it.
extension SyncEngine {
    func pendingWrites() throws(StorageError) -> [PendingWrite] { try machine().queue().map(pendingWrite) }

    func refusedWrites() throws(StorageError) -> [RefusedWrite] { try machine().refused().map { RefusedWrite($0) } }

    func showQueue(_ changes: [QueueChange]) {
        guard queueWatchers.isFollowed, !changes.isEmpty else { return }
        let isReplaced = changes.contains { if case .replaced = $0 { true } else { false } }
        if isReplaced, let queue = try? pendingWrites() {
            queueWatchers.show(queue)
        } else {
            queueWatchers.show(changes, pendingWrite)
        }
    }

    func watchQueue(_ id: Int, _ continuation: SnapshotStream<[PendingWrite], StorageError>.Continuation) {
        do throws(StorageError) {
            let queue = try pendingWrites()
            queueWatchers.add(id, continuation, seeing: queue)
        } catch {
            continuation.finish(throwing: error)
        }
    }

    func watchRefusals(_ id: Int, _ continuation: SnapshotStream<[RefusedWrite], StorageError>.Continuation) {
        do throws(StorageError) {
            continuation.yield(try refusedWrites())
            refusals[id] = continuation
        } catch {
            continuation.finish(throwing: error)
        }
    }

    func leaveQueue(_ id: Int) { queueWatchers.remove(id) }
    func leaveRefusals(_ id: Int) { refusals[id] = nil }

    /// - Returns: Whether it was still queued and had never been sent.
    func cancelWrite(_ id: String) throws(StorageError) -> Bool {
        let machine = try machine()
        guard let batch = try machine.queue().first(where: { $0.id == id }), !machine.isSent(batch) else {
            return false
        }
        perform(machine.handle(.cancelWrite(id: id, at: timestamp)))
        return try !machine.queue().contains { $0.id == id }
    }

    /// - Returns: Whether it was still queued and the network is off.
    func dropWrite(_ id: String) throws(StorageError) -> Bool {
        let machine = try machine()
        guard try machine.queue().contains(where: { $0.id == id }) else { return false }
        perform(machine.handle(.dropWrite(id: id, at: timestamp)))
        return try !machine.queue().contains { $0.id == id }
    }
}

import Switchyard
import SwitchyardBytes

/// Helpers for a client's calls, used inside the database's lock.
extension MockDevice {
    /// Why a call that reads from `source` cannot be answered at all.
    func refusal(of source: ReadSource) -> StorageError? {
        if isShutDown { return StorageError(.shutDown, "The client was shut down.") }
        if source == .server && !isNetworkEnabled { return .networkSwitchedOff }
        if source == .server && !isConnected { return .mockIsOffline }
        return nil
    }

    func read(
        _ path: StoragePath, _ source: ReadSource, _ server: DocumentTable
    ) -> Result<DocumentSnapshot, StorageError> {
        if let refusal = refusal(of: source) { return .failure(refusal) }
        guard source != .cache, isConnected else {
            guard let known = document(path, server, fromCache: true) else {
                return .failure(StorageError(.unavailable, "The document is not in the cache, and the network is off."))
            }
            return .success(known)
        }
        if let refusal = self.refusal(toGet: path, server) { return .failure(refusal) }
        let base = server[path] ?? .missing(path)
        cache.store(base)
        return .success(queue.isEmpty ? base : queue.overlay(base, at: path, isFromCache: false) ?? base)
    }

    /// Queues a batch, and shows its effect in this device's streams.
    ///
    /// - Parameter hasTakenEffect: Whether the server has applied it, but its answer was lost.
    func enqueue(
        _ batch: WriteBatch, _ id: String, _ now: Timestamp, _ server: DocumentTable, hasTakenEffect: Bool = false
    ) -> (WriteReceipt, [Action]) {
        let answer = MockWriteQueue.Answer()
        var item = MockWriteQueue.Item(id: id, batch: batch, queuedAt: now, answer: answer)
        if hasTakenEffect {
            item.attempts = 1
            item.failure.note(StorageError(.unavailable, "The answer was lost."))
            item.hasTakenEffect = true
        }
        let actions = queue.append(item) + changed(Array(Set(batch.writes.map(\.path))), server)
        return (
            WriteReceipt(
                batchID: id,
                lastFailure: { [failure = item.failure, reason = queue.stop] in reason.last ?? failure.last }
            ) {
                await answer.value ?? .failure(StorageError(.cancelled, "The call was cancelled."))
            }, actions
        )
    }

    /// The next write to send; without one, sending ends.
    func nextToSend() -> (MockWriteQueue.Item?, [Action]) {
        guard isConnected, !isShutDown else {
            isSending = false
            return (nil, queue.stopWaiting())
        }
        let (item, actions) = queue.takeNext()
        if item == nil { isSending = false }
        return (item, actions)
    }

    /// Removes a write that the server has refused for good.
    func refuse(_ id: String, _ error: StorageError, _ now: Timestamp, _ server: DocumentTable) -> [Action] {
        guard let (item, paths, actions) = queue.refuse(id, error, now) else { return [] }
        queue.hasGotThrough()
        return changed(paths, server) + actions + [{ item.answer.resolve(.failure(error)) }]
    }
}

extension CollectionPath {
    /// The collection directly below `document`, or at the top level, that is or contains this one.
    func ancestor(under document: StoragePath?) -> [CollectionPath] {
        guard let document else { return [CollectionPath(unchecked: String(rawValue.prefix { $0 != "/" }))] }
        let prefix = document.rawValue + "/"
        guard rawValue.utf8.starts(with: prefix.utf8) else { return [] }
        let name = rawValue.utf8.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "/") }
        return [CollectionPath(unchecked: prefix + String(Substring(name)))]
    }
}

extension Filter {
    var hasAny: Bool {
        switch self {
        case .comparison, .test: false
        case .all(let filters): filters.contains(where: \.hasAny)
        case .any: true
        }
    }

    var isNegation: Bool {
        switch self {
        case .comparison(_, .notEqual, _), .comparison(_, .notIn, _), .test(_, .isNotNull), .test(_, .isNotNaN): true
        default: false
        }
    }
}

extension DocumentWrite {
    var hasVersion: Bool { if case .updateTime = precondition { true } else { false } }
}

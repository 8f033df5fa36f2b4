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
        let merging = hasTakenEffect ? nil : queue.merging(batch)
        var item = MockWriteQueue.Item(
            id: id, batch: merging?.batch ?? batch, queuedAt: merging?.last.queuedAt ?? now, answer: answer)
        if let last = merging?.last { item.earlier = last.earlier + [last] }
        if hasTakenEffect {
            item.attempts = 1
            item.failure.note(StorageError(.unavailable, "The answer was lost."))
            item.hasTakenEffect = true
        }
        let actions =
            queue.append(item, inPlaceOf: merging?.last) + changed(Array(Set(batch.writes.map(\.path))), server)
        return (
            WriteReceipt(
                batchID: id,
                lastFailure: { [failure = item.failure, reason = queue.stop] in reason.last ?? failure.last },
                progress: item.progress
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
        return changed(paths, server) + actions + [{ item.resolve(.failure(error)) }]
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

/// Checks the project's rules for this device's user, inside the database's lock.
extension MockDevice {
    private var userID: AuthUser.ID? { queue.owner.isEmpty ? nil : queue.owner }

    /// Why a document may not be read; `nil` if it may.
    func refusal(toGet path: StoragePath, _ server: DocumentTable) -> StorageError? {
        guard rules != nil else { return nil }
        return refusal(.get, path, existing: server[path]?.data, proposed: nil, server)
    }

    /// Why a query may not return `results`; `nil` if it may.
    func refusal(
        toList results: some Collection<DocumentSnapshot>, of query: Query, _ server: DocumentTable
    ) -> StorageError? {
        guard rules != nil else { return nil }
        for document in results {
            let existing = server[document.path]?.data
            // Omit the document, whose name the user may not be allowed to know.
            let refusal = refusal(
                .list, document.path, existing: existing, proposed: nil, server,
                about: document.path.collection.rawValue)
            if let refusal { return refusal }
        }
        // An empty result is an answer too, which not every user may get.
        guard results.isEmpty, case .collection(let collection) = query.source else { return nil }
        return refusal(
            .list, collection.document("-"), existing: nil, proposed: nil, server, about: collection.rawValue)
    }

    /// The documents after a batch, for rules about several documents; empty without rules.
    func outcome(
        of writes: [DocumentWrite], at time: Timestamp, _ server: DocumentTable
    ) -> [StoragePath: DocumentData?] {
        guard rules != nil else { return [:] }
        var after: [StoragePath: DocumentData?] = [:]
        for write in writes {
            let old = after[write.path] ?? server[write.path]?.data
            after.updateValue(write.applied(to: old, serverTime: time).data, forKey: write.path)
        }
        return after
    }

    /// Why a write is not allowed; `nil` if it is.
    ///
    /// - Parameter outcome: The documents after the whole batch.
    func refusal(
        of write: DocumentWrite, to old: DocumentSnapshot, leaving new: DocumentData?, _ server: DocumentTable,
        outcome: [StoragePath: DocumentData?]
    ) -> StorageError? {
        guard rules != nil else { return nil }
        let access: MockRules.Access =
            switch write.operation {
            case .verify: .get
            case .delete: .delete
            case .set, .patch: old.exists ? .update : .create
            }
        return refusal(
            access, write.path, existing: old.data, proposed: access == .get ? nil : new, server, outcome: outcome)
    }

    private func refusal(
        _ access: MockRules.Access, _ path: StoragePath, existing: DocumentData?, proposed: DocumentData?,
        _ server: DocumentTable, about target: String? = nil, outcome: [StoragePath: DocumentData?] = [:]
    ) -> StorageError? {
        let request = MockRules.Request(
            userID: userID, access: access, path: path, existing: existing, proposed: proposed, documents: server,
            after: outcome)
        guard let rules, !rules.allows(request) else { return nil }
        let who = userID.map { " as “\($0)”" } ?? " while no user is signed in"
        return StorageError(
            .unauthorized, "The mock's rules do not allow \(access.doing) “\(target ?? path.rawValue)”\(who).",
            isRetryable: false, isRefusal: true)
    }
}

import Switchyard

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
        let who = userID.map { " as “\($0)”" } ?? " while nobody is signed in"
        return StorageError(
            .unauthorized, "The mock's rules do not allow \(access.doing) “\(target ?? path.rawValue)”\(who).",
            isRetryable: false, isRefusal: true)
    }
}

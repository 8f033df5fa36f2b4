extension WriteBatch {
    /// Whether only providers with ``StorageCapabilities/mixedBatches`` carry the batch out: it has several writes that are not
    /// all sets, all creations or all deletions of different documents of one collection.
    public var isMixed: Bool {
        guard writes.count > 1 else { return false }
        guard let kind = writes[0].uniformKind else { return true }
        var paths: Set<StoragePath> = []
        return !writes.allSatisfy { $0.uniformKind == kind && paths.insert($0.path).inserted }
    }
}

extension DocumentWrite {
    /// What all writes of a batch have in common that is not mixed.
    package struct UniformKind: Hashable {
        fileprivate enum Action { case set, create, delete }

        fileprivate let action: Action
        fileprivate let collection: CollectionPath
    }

    /// `nil` for a write that shares a batch only with a mixture: one that depends on what the document holds.
    package var uniformKind: UniformKind? {
        guard transforms.allSatisfy({ $0.operation == .serverTime }) else { return nil }
        let action: UniformKind.Action
        switch (operation, precondition) {
        case (.set, .none): action = .set
        case (.set, .exists(false)): action = .create
        case (.delete, .none): action = .delete
        default: return nil
        }
        return UniformKind(action: action, collection: path.collection)
    }
}

import Switchyard

extension LocalStore {
    /// The record of a target: the one in use, the stored one, or a new one with the next even ID.
    func allocate(_ target: WatchTarget) throws(StorageError) -> TargetRecord {
        if let record = active.values.first(where: { $0.target == target }) { return record }
        return try perform(.allocateTarget) { transaction throws(StorageError) in try transaction.allocate(target) }
    }

    /// As ``release(_:)``; if the store fails, the target keeps an older token, which does no harm.
    func forceRelease(_ id: Int) {
        guard (try? release(id)) == nil else { return }
        forget(id)
    }

    /// Releases a target without listeners: with eager collection it is removed, otherwise it is kept with its newest token.
    func release(_ id: Int) throws(StorageError) {
        guard active[id] != nil else { return }
        try perform(.releaseTarget) { transaction throws(StorageError) in
            let shown = transaction.pins.removeAll(by: id)
            guard var record = transaction.active.removeValue(forKey: id) else { return }
            let confirmed = try transaction.rows.confirmedKeys(of: id)
            if policy == .eager {
                for path in shown.union(confirmed) { try transaction.noteUse(of: path) }
                try transaction.rows.removeTarget(id)
            } else {
                for path in shown.subtracting(confirmed) { try transaction.noteUse(of: path) }
                record.sequenceNumber = transaction.sequenceNumber
                try transaction.rows.putTarget(record)
            }
        }
    }
}

extension LocalTransaction {
    /// - Parameter isListening: Whether somebody listens; otherwise the collector may remove the target when it is the least
    ///   recently used. With eager collection it stays in use.
    func allocate(_ target: WatchTarget, isListening: Bool = true) throws(StorageError) -> TargetRecord {
        if let record = active.values.first(where: { $0.target == target }) { return record }
        var record: TargetRecord
        if let stored = try rows.target(target) {
            record = stored
        } else {
            globals.highestTargetID += 2
            record = TargetRecord(target: target, id: globals.highestTargetID, sequenceNumber: sequenceNumber)
            try rows.putTarget(record)
        }
        if isListening || isEager {
            active[record.id] = record
        } else {
            record.sequenceNumber = sequenceNumber
            try rows.putTarget(record)
        }
        return record
    }
}

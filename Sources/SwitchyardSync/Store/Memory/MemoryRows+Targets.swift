import Switchyard

extension MemoryRows {
    func target(_ target: WatchTarget) -> TargetRecord? { targetIDs[target].flatMap { targetsByID[$0] } }

    func targets() -> [TargetRecord] { Array(targetsByID.values) }

    func putTarget(_ record: TargetRecord) {
        let old = targetsByID[record.id]
        undo { [unowned self] in
            targetsByID[record.id] = old
            if old == nil { targetIDs[record.target] = nil }
        }
        targetsByID[record.id] = record
        targetIDs[record.target] = record.id
    }

    func removeTarget(_ id: Int) {
        removeAllConfirmed(from: id)
        guard let old = targetsByID[id] else { return }
        undo { [unowned self] in
            targetsByID[id] = old
            targetIDs[old.target] = id
        }
        targetsByID[id] = nil
        targetIDs[old.target] = nil
    }

    func confirmedKeys(of target: Int) -> Set<StoragePath> { confirmed[target] ?? [] }

    func addConfirmed(_ paths: some Collection<StoragePath>, to target: Int) {
        guard !paths.isEmpty else { return }
        var added = Array(paths)
        var keys = confirmed.removeValue(forKey: target) ?? []
        if keys.isEmpty, let all = paths as? Set<StoragePath> {
            keys = all
        } else {
            keys.reserveCapacity(keys.count + added.count)
            added = added.filter { keys.insert($0).inserted }
        }
        confirmed[target] = keys
        confirmations.reserveCapacity(confirmations.count + added.count)
        for path in added { confirmations[path, default: 0] += 1 }
        if !added.isEmpty { undo { [unowned self] in removeConfirmed(added, from: target) } }
    }

    func removeConfirmed(_ paths: some Collection<StoragePath>, from target: Int) {
        var removed: [StoragePath] = []
        for path in paths where confirmed[target]?.remove(path) != nil {
            let left = (confirmations[path] ?? 1) - 1
            confirmations[path] = left > 0 ? left : nil
            removed.append(path)
        }
        if confirmed[target]?.isEmpty == true { confirmed[target] = nil }
        if !removed.isEmpty { undo { [unowned self] in addConfirmed(removed, to: target) } }
    }

    func removeAllConfirmed(from target: Int) { removeConfirmed(confirmedKeys(of: target), from: target) }

    func isConfirmed(_ path: StoragePath) -> Bool { confirmations[path] != nil }
}

import Switchyard

extension SQLiteRows {
    func target(_ target: WatchTarget) throws(StorageError) -> TargetRecord? {
        try connection.statement("SELECT id, record FROM targets WHERE target = ?").bind(target.key)
            .first { row throws(StorageError) in
                try row.record(1) { reader throws(StorageError) in
                    try reader.targetRecord(id: Int(row.integer(0)), target: target)
                }
            }
    }

    func targets() throws(StorageError) -> [TargetRecord] {
        var result: [TargetRecord] = []
        try connection.statement("SELECT id, target, record FROM targets").rows { row throws(StorageError) in
            let target = try row.record(1) { reader throws(StorageError) in try reader.watchTarget() }
            result.append(
                try row.record(2) { reader throws(StorageError) in
                    try reader.targetRecord(id: Int(row.integer(0)), target: target)
                })
        }
        return result
    }

    func putTarget(_ target: TargetRecord) throws(StorageError) {
        var record = RecordWriter()
        record.write(target)
        // The target of an ID never changes and is large, so it is not rewritten.
        try connection.statement("UPDATE targets SET record = ? WHERE id = ?")
            .bind(record.bytes).bind(target.id).run()
        guard connection.changes == 0 else { return }
        try connection.statement("INSERT INTO targets (id, target, record) VALUES (?, ?, ?)")
            .bind(target.id).bind(target.target.key).bind(record.bytes).run()
    }

    func removeTarget(_ id: Int) throws(StorageError) {
        try removeAllConfirmed(from: id)
        try connection.statement("DELETE FROM targets WHERE id = ?").bind(id).run()
    }

    func confirmedKeys(of target: Int) throws(StorageError) -> Set<StoragePath> {
        var keys: Set<StoragePath> = []
        try connection.statement("SELECT path FROM confirmed WHERE target = ?").bind(target).rows { row in
            keys.insert(StoragePath(unchecked: row.text(0)))
        }
        return keys
    }

    func addConfirmed(_ paths: some Collection<StoragePath>, to target: Int) throws(StorageError) {
        for path in paths {
            try connection.statement("INSERT OR IGNORE INTO confirmed (target, path) VALUES (?, ?)")
                .bind(target).bind(path.rawValue).run()
        }
    }

    func removeConfirmed(_ paths: some Collection<StoragePath>, from target: Int) throws(StorageError) {
        for path in paths {
            try connection.statement("DELETE FROM confirmed WHERE target = ? AND path = ?")
                .bind(target).bind(path.rawValue).run()
        }
    }

    func removeAllConfirmed(from target: Int) throws(StorageError) {
        try connection.statement("DELETE FROM confirmed WHERE target = ?").bind(target).run()
    }

    /// Checks target by target: there are few, and an index by path would have to be updated with every confirmation.
    func isConfirmed(_ path: StoragePath) throws(StorageError) -> Bool {
        var last: Int64 = .min
        while let target = try nextTargetWithKeys(after: last) {
            let isHere = try connection.statement("SELECT 1 FROM confirmed WHERE target = ? AND path = ?")
                .bind(target).bind(path.rawValue).first { _ in true }
            if isHere != nil { return true }
            last = target
        }
        return false
    }

    private func nextTargetWithKeys(after target: Int64) throws(StorageError) -> Int64? {
        try connection.statement("SELECT target FROM confirmed WHERE target > ? ORDER BY target LIMIT 1").bind(target)
            .first { $0.integer(0) }
    }
}

extension WatchTarget {
    /// The same bytes for equal targets.
    fileprivate var key: [UInt8] {
        var record = RecordWriter(capacity: 128)
        record.write(self)
        return record.bytes
    }
}

import Switchyard

extension SQLiteRows {
    // MARK: Batches

    func batches(of owner: QueueOwner, after number: Int, limit: Int) throws(StorageError) -> [QueuedBatch] {
        try batches(
            connection.statement(
                "SELECT number, record, bases FROM batches WHERE owner = ? AND number > ? ORDER BY number LIMIT ?"
            )
            .bind(owner.key).bind(number).bind(limit))
    }

    private func batches(_ statement: SQLiteStatement) throws(StorageError) -> [QueuedBatch] {
        var result: [QueuedBatch] = []
        try statement.rows { row throws(StorageError) in
            var batch = try row.record(1) { reader throws(StorageError) in
                try reader.queuedBatch(number: Int(row.integer(0)))
            }
            if !row.isEmpty(2) {
                batch.bases = try row.record(2) { reader throws(StorageError) in try reader.bases() }
            }
            result.append(batch)
        }
        return result
    }

    func batches(of owner: QueueOwner, touching paths: Set<StoragePath>) throws(StorageError) -> [QueuedBatch] {
        var numbers: Set<Int> = []
        for path in paths {
            try connection.statement("SELECT number FROM batch_paths WHERE path = ? AND owner = ?")
                .bind(path.rawValue).bind(owner.key)
                .rows { numbers.insert(Int($0.integer(0))) }
        }
        return try found(numbers.sorted(), of: owner)
    }

    func lastBatches(
        of owner: QueueOwner, touching path: StoragePath, below number: Int, limit: Int
    ) throws(StorageError) -> [QueuedBatch] {
        var numbers: [Int] = []
        try connection.statement(
            """
            SELECT number FROM batch_paths WHERE path = ? AND owner = ? AND number < ?
            ORDER BY number DESC LIMIT ?
            """
        ).bind(path.rawValue).bind(owner.key).bind(number).bind(limit)
            .rows { numbers.append(Int($0.integer(0))) }
        return try found(numbers, of: owner)
    }

    private func found(_ numbers: [Int], of owner: QueueOwner) throws(StorageError) -> [QueuedBatch] {
        var result: [QueuedBatch] = []
        for number in numbers {
            guard let batch = try batch(number, of: owner) else { throw RecordReader.damage }
            result.append(batch)
        }
        return result
    }

    func batch(_ number: Int, of owner: QueueOwner) throws(StorageError) -> QueuedBatch? {
        try batches(
            connection.statement("SELECT number, record, bases FROM batches WHERE owner = ? AND number = ?")
                .bind(owner.key).bind(number)
        ).first
    }

    func highestBatchNumber(of owner: QueueOwner) throws(StorageError) -> Int? {
        try connection.statement("SELECT number FROM batches WHERE owner = ? ORDER BY number DESC LIMIT 1")
            .bind(owner.key).first { Int($0.integer(0)) }
    }

    func hasBatch(touching path: StoragePath) throws(StorageError) -> Bool {
        try connection.statement("SELECT 1 FROM batch_paths WHERE path = ? LIMIT 1")
            .bind(path.rawValue).first { _ in true } ?? false
    }

    func putBatch(_ batch: QueuedBatch, of owner: QueueOwner) throws(StorageError) {
        var record = RecordWriter(capacity: 256)
        record.write(batch)
        try connection.statement(
            """
            INSERT INTO batches (owner, number, record, bases) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET record = excluded.record, bases = excluded.bases
            """
        ).bind(owner.key).bind(batch.number).bind(record.bytes).bind(batch.bases?.record ?? []).run()
        for path in batch.touched {
            try connection.statement("INSERT OR IGNORE INTO batch_paths (path, owner, number) VALUES (?, ?, ?)")
                .bind(path.rawValue).bind(owner.key).bind(batch.number).run()
        }
    }

    func removeBatch(_ batch: QueuedBatch, of owner: QueueOwner) throws(StorageError) {
        for path in batch.touched {
            try connection.statement("DELETE FROM batch_paths WHERE path = ? AND owner = ? AND number = ?")
                .bind(path.rawValue).bind(owner.key).bind(batch.number).run()
        }
        try connection.statement("DELETE FROM batches WHERE owner = ? AND number = ?")
            .bind(owner.key).bind(batch.number).run()
    }

    /// Includes its overlays and refused batches. Registers collections again that other users write to.
    func removeQueue(of owner: QueueOwner) throws(StorageError) {
        try connection.statement("DELETE FROM batches WHERE owner = ?").bind(owner.key).run()
        try connection.statement("DELETE FROM batch_paths WHERE owner = ?").bind(owner.key).run()
        try connection.statement("DELETE FROM overlays WHERE owner = ?").bind(owner.key).run()
        try connection.statement("DELETE FROM refused WHERE owner = ?").bind(owner.key).run()
        try connection.statement("DELETE FROM names WHERE owner = ?").bind(owner.key).run()
        var collections: [CollectionPath] = []
        try connection.statement("SELECT DISTINCT collection FROM overlays").rows {
            collections.append(CollectionPath(unchecked: $0.text(0)))
        }
        for collection in collections { try note(collection) }
    }

    // MARK: Names

    func name(of document: StoragePath, for owner: QueueOwner) throws(StorageError) -> StoragePath? {
        try connection.statement("SELECT name FROM names WHERE owner = ? AND document = ?")
            .bind(owner.key).bind(document.rawValue).first { StoragePath(unchecked: $0.text(0)) }
    }

    func putName(_ name: StoragePath, of document: StoragePath, for owner: QueueOwner) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO names (owner, document, name) VALUES (?, ?, ?)")
            .bind(owner.key).bind(document.rawValue).bind(name.rawValue).run()
    }

    // MARK: Overlays

    func overlay(of owner: QueueOwner, at path: StoragePath) throws(StorageError) -> Overlay? {
        try connection.statement("SELECT batch, record FROM overlays WHERE owner = ? AND collection = ? AND name = ?")
            .bind(owner.key).bind(parts: path)
            .first { row throws(StorageError) in try row.overlay() }
    }

    func overlays(
        of owner: QueueOwner, in source: Query.Source, afterBatch number: Int?
    ) throws(StorageError) -> [Overlay] {
        var result: [Overlay] = []
        for collection in try collections(in: source) {
            try connection.statement(
                "SELECT batch, record FROM overlays WHERE owner = ? AND collection = ? AND batch > ?"
            ).bind(owner.key).bind(collection.rawValue).bind(number ?? .min)
                .rows { row throws(StorageError) in result.append(try row.overlay()) }
        }
        return result
    }

    func putOverlay(_ overlay: Overlay, of owner: QueueOwner) throws(StorageError) {
        try note(collectionOf: overlay.path)
        var record = RecordWriter(capacity: 256)
        record.write(overlay.write)
        try connection.statement(
            """
            INSERT INTO overlays (owner, collection, name, batch, record) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET batch = excluded.batch, record = excluded.record
            """
        ).bind(owner.key).bind(parts: overlay.path).bind(overlay.batchNumber).bind(record.bytes).run()
    }

    func removeOverlay(of owner: QueueOwner, at path: StoragePath) throws(StorageError) {
        try connection.statement("DELETE FROM overlays WHERE owner = ? AND collection = ? AND name = ?")
            .bind(owner.key).bind(parts: path).run()
    }

    func removeOverlay(of owner: QueueOwner, at path: StoragePath, ofBatch number: Int) throws(StorageError) {
        try connection.statement("DELETE FROM overlays WHERE owner = ? AND collection = ? AND name = ? AND batch = ?")
            .bind(owner.key).bind(parts: path).bind(number).run()
    }

    // MARK: Refused batches

    func refusedBatches(of owner: QueueOwner) throws(StorageError) -> [RefusedBatch] {
        var result: [RefusedBatch] = []
        try connection.statement("SELECT record FROM refused WHERE owner = ? ORDER BY place").bind(owner.key)
            .rows { row throws(StorageError) in
                result.append(try row.record(0) { reader throws(StorageError) in try reader.refusedBatch() })
            }
        return result
    }

    func putRefused(_ batch: RefusedBatch, of owner: QueueOwner) throws(StorageError) {
        var record = RecordWriter(capacity: 256)
        record.write(batch)
        // A batch that is refused again becomes the newest and moves to the end.
        try connection.statement("INSERT OR REPLACE INTO refused (owner, id, record) VALUES (?, ?, ?)")
            .bind(owner.key).bind(batch.id).bind(record.bytes).run()
    }

    func removeRefused(_ id: String, of owner: QueueOwner) throws(StorageError) {
        try connection.statement("DELETE FROM refused WHERE owner = ? AND id = ?").bind(owner.key).bind(id).run()
    }
}

extension SQLiteRow {
    fileprivate func overlay() throws(StorageError) -> Overlay {
        let number = Int(integer(0))
        return try record(1) { reader throws(StorageError) in
            Overlay(write: try reader.documentWrite(), batchNumber: number)
        }
    }
}

extension QueueOwner {
    /// The queue of no user needs a key, too, which no user ID may equal.
    var key: String { userID.map { "u" + $0 } ?? "" }

    init(key: String) { self.init(key.isEmpty ? nil : String(decoding: key.utf8.dropFirst(), as: UTF8.self)) }
}

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

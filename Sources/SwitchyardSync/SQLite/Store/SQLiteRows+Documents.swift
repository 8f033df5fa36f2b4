import Switchyard

extension SQLiteRows {
    func document(at path: StoragePath) throws(StorageError) -> CachedDocument? {
        try connection.statement("SELECT record, tag FROM documents WHERE collection = ? AND name = ?")
            .bind(parts: path)
            .first { row throws(StorageError) in
                try row.record(0) { reader throws(StorageError) in
                    try reader.cachedDocument(at: path, tag: row.tag(1))
                }
            }
    }

    func knownTags(at paths: some Collection<StoragePath>) throws(StorageError) -> [StoragePath: DocumentTag] {
        var tags: [StoragePath: DocumentTag] = [:]
        for path in paths {
            tags[path] =
                try connection.statement(
                    "SELECT record, tag FROM documents WHERE collection = ? AND name = ? AND tag <> ''"
                ).bind(parts: path).first { row throws(StorageError) -> DocumentTag? in
                    try row.record(0) { reader throws(StorageError) in try reader.isAsOnServer() ? row.tag(1) : nil }
                } ?? nil
        }
        return tags
    }

    func documents(at paths: [StoragePath]) throws(StorageError) -> [CachedDocument?] {
        try each(of: paths) { path throws(StorageError) in try document(at: path) }
    }

    func heads(at paths: [StoragePath], numbering number: Int64?) throws(StorageError) -> [CachedDocument.Head?] {
        if let number { try setSequenceNumber(number, of: paths) }
        return try each(of: paths) { path throws(StorageError) in
            try connection.statement("SELECT record FROM documents WHERE collection = ? AND name = ?").bind(parts: path)
                .first { row throws(StorageError) in
                    try row.record(0) { reader throws(StorageError) in try reader.documentHead() }
                }
        }
    }

    /// - Parameter find: Finds what is stored at a path.
    private func each<Found>(
        of paths: [StoragePath], _ find: (StoragePath) throws(StorageError) -> Found?
    ) throws(StorageError) -> [Found?] {
        var result = [Found?](repeating: nil, count: paths.count)
        guard paths.count > 16 else {
            for (place, path) in paths.enumerated() { result[place] = try find(path) }
            return result
        }
        // In the order of the keys, so that neighbours come from the same page. For a collection that is read for the first
        // time, one look-up shows that nothing is stored.
        var collection: (path: CollectionPath, isFiled: Bool)?
        for place in paths.placesInKeyOrder {
            let path = paths[place]
            if collection.map({ path.isDirectly(in: $0.path) }) != true {
                collection = (path.collection, try isFiled(path.collection))
            }
            if collection?.isFiled == true { result[place] = try find(path) }
        }
        return result
    }

    func forEachDocument(
        in source: Query.Source, readAfter version: Timestamp?, screen: DocumentPrefilter?,
        _ body: (CachedDocument) throws(StorageError) -> Void
    ) throws(StorageError) {
        for collection in try collections(in: source) {
            let statement: SQLiteStatement
            if let version {
                statement = try connection.statement(
                    """
                    SELECT name, record, tag FROM documents INDEXED BY documents_by_read_time
                    WHERE collection = ? AND read_time > ?
                    """
                ).bind(collection.rawValue).bind(version.storedTime)
            } else {
                statement = try connection.statement("SELECT name, record, tag FROM documents WHERE collection = ?")
                    .bind(collection.rawValue)
            }
            try statement.rows { row throws(StorageError) in
                let document = try row.record(1) { reader throws(StorageError) -> CachedDocument? in
                    if let screen, !screen.fields.isEmpty {
                        var preview = reader
                        guard try preview.fits(screen.bounds()) else { return nil }
                        preview = reader
                        if let data = try preview.cachedData(only: screen.fields), screen.rejects(data) { return nil }
                    }
                    let path = row.utf8(0) { collection.path(toDocument: $0) }
                    if let screen {
                        var preview = reader
                        let seen = try preview.cachedDocument(at: path, fields: screen.fields)
                        guard screen.admits(seen) else { return nil }
                    }
                    return try reader.cachedDocument(at: path, tag: row.tag(2))
                }
                if let document { try body(document) }
            }
        }
    }

    func putDocument(_ document: CachedDocument, replacing old: CachedDocument?) throws(StorageError) {
        try note(collectionOf: document.path)
        var document = document
        var record = RecordWriter(capacity: 256)
        record.write(document)
        if record.isTooDeep {
            // Only a server has such a document. It is known here, and its contents are not.
            document.state = .unknown
            document.data = nil
            record = RecordWriter()
            record.write(document)
        }
        let bytes = document.storedBytes
        try connection.statement(
            """
            INSERT INTO documents (collection, name, read_time, bytes, record, tag) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE
            SET read_time = excluded.read_time, bytes = excluded.bytes, record = excluded.record, tag = excluded.tag
            """
        ).bind(parts: document.path).bind(document.readTime.storedTime).bind(bytes).bind(record.bytes)
            .bind(document.tag?.rawValue ?? "").run()
        noteBytes(bytes - (old?.storedBytes ?? 0))
    }

    func removeDocument(at path: StoragePath) throws(StorageError) {
        try connection.statement("DELETE FROM uses WHERE path = ?").bind(path.rawValue).run()
        let old = try connection.statement("SELECT bytes FROM documents WHERE collection = ? AND name = ?")
            .bind(parts: path).first { $0.integer(0) }
        guard let old else { return }
        try connection.statement("DELETE FROM documents WHERE collection = ? AND name = ?").bind(parts: path).run()
        noteBytes(-old)
    }

    // MARK: Sequence numbers

    func setSequenceNumber(_ number: Int64, of paths: [StoragePath]) throws(StorageError) {
        for path in paths {
            try connection.statement(
                """
                INSERT INTO uses (path, number) VALUES (?, ?)
                ON CONFLICT DO UPDATE SET number = excluded.number WHERE number < excluded.number
                """
            ).bind(path.rawValue).bind(number).run()
        }
    }

    func orphans(upTo bound: Int64) throws(StorageError) -> [(path: StoragePath, sequenceNumber: Int64)] {
        var result: [(path: StoragePath, sequenceNumber: Int64)] = []
        try connection.statement(
            "SELECT path, number FROM uses WHERE number <= ? AND path NOT IN (SELECT path FROM confirmed)"
        ).bind(bound).rows { row in
            result.append((path: StoragePath(unchecked: row.text(0)), sequenceNumber: row.integer(1)))
        }
        return result.sorted { ($0.sequenceNumber, $0.path) < ($1.sequenceNumber, $1.path) }
    }
}

extension SQLiteRow {
    fileprivate func tag(_ column: Int32) -> DocumentTag? {
        isEmpty(column) ? nil : DocumentTag(rawValue: text(column))
    }
}

extension Timestamp {
    /// A number with the same order. Times outside the years 1678 to 2262, which no server's clock has, are clamped.
    fileprivate var storedTime: Int64 {
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(Int64(nanoseconds))
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }
}

extension CollectionPath {
    fileprivate func path(toDocument name: UnsafeBufferPointer<UInt8>) -> StoragePath {
        let prefix = rawValue.utf8
        return StoragePath(
            unchecked: String(unsafeUninitializedCapacity: prefix.count + 1 + name.count) { buffer in
                _ = buffer.update(fromContentsOf: prefix)
                buffer[prefix.count] = UInt8(ascii: "/")
                _ = UnsafeMutableBufferPointer(rebasing: buffer[(prefix.count + 1)...]).update(fromContentsOf: name)
                return prefix.count + 1 + name.count
            })
    }
}

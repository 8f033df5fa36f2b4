import Switchyard

/// The store's own rows in records. Keys have their own columns and are not repeated.
extension RecordWriter {
    mutating func write(_ document: CachedDocument) {
        write(byte: document.state.rawValue)
        write(document.hasCommittedMutations)
        write(document.version)
        write(document.readTime)
        write(document.createTime) { $0.write($1) }
        write(document.data) { $0.write($1) }
    }

    /// Without its target and its number.
    mutating func write(_ record: TargetRecord) {
        write(record.sequenceNumber)
        write(record.resumeToken)
        write(record.version)
        write(record.lastLimboFreeVersion)
        write(record.isDecided)
    }

    mutating func write(_ globals: StoreGlobals) {
        write(globals.lastSnapshotVersion)
        write(globals.highestTargetID)
        write(globals.highestSequenceNumber)
        write(globals.highestBatchNumber)
        write("")
        write(globals.highestVersion)
    }

    mutating func write(_ record: BundleRecord) {
        write(record.version)
        write(record.createTime)
    }

    mutating func write(_ record: NamedQueryRecord) {
        write(record.query)
        write(record.readTime)
    }
}

extension RecordReader {
    /// - Parameters:
    ///   - path: The key of the row.
    ///   - fields: The top-level fields to read; `nil` for all.
    ///   - tag: The tag, which is not in the record.
    mutating func cachedDocument(
        at path: StoragePath, fields: [String]? = nil, tag: DocumentTag? = nil
    ) throws(StorageError) -> CachedDocument {
        guard let state = CachedDocument.State(rawValue: try byte()) else { throw RecordReader.damage }
        let hasCommittedMutations = try bool()
        let version = try timestamp()
        let readTime = try timestamp()
        let createTime = try optional { reader throws(StorageError) in try reader.timestamp() }
        let data = try optional { reader throws(StorageError) in
            if let fields { try reader.documentData(only: fields) } else { try reader.documentData() }
        }
        return CachedDocument(
            path: path, state: state, data: data, createTime: createTime, version: version, readTime: readTime,
            hasCommittedMutations: hasCommittedMutations, tag: tag)
    }

    /// What there is to know of a cached document without its contents. Nothing can be read after this.
    mutating func documentHead() throws(StorageError) -> CachedDocument.Head {
        guard let state = CachedDocument.State(rawValue: try byte()) else { throw RecordReader.damage }
        let hasCommittedMutations = try bool()
        return CachedDocument.Head(state: state, version: try timestamp(), hasCommittedMutations: hasCommittedMutations)
    }

    /// Whether a cached document was found and has no acknowledged write that the stream has not shown. Nothing can be read
    /// after this.
    mutating func isAsOnServer() throws(StorageError) -> Bool {
        try byte() == CachedDocument.State.found.rawValue ? try !bool() : false
    }

    /// Some of the top-level fields of a cached document; `nil` if it has no data.
    mutating func cachedData(only fields: [String]) throws(StorageError) -> DocumentData? {
        try skipToData() ? try documentData(only: fields) : nil
    }

    /// Whether a cached document has data with these fields, and the ranks of their values are within the bounds. It stops at
    /// the first that is not: nothing can be read after this.
    mutating func fits(_ bounds: [FieldBounds]) throws(StorageError) -> Bool {
        if bounds.isEmpty { return true }
        return try skipToData() ? try dataFits(bounds) : false
    }

    /// Whether a cached document has data, which comes next then.
    private mutating func skipToData() throws(StorageError) -> Bool {
        try skip(2)
        for _ in 0..<2 { try skipTimestamp() }
        if try bool() { try skipTimestamp() }
        return try bool()
    }

    mutating func targetRecord(id: Int, target: WatchTarget) throws(StorageError) -> TargetRecord {
        let sequenceNumber = try integer()
        let resumeToken = try byteArray()
        let version = try timestamp()
        let lastLimboFreeVersion = try timestamp()
        return TargetRecord(
            target: target, id: id, sequenceNumber: sequenceNumber, resumeToken: resumeToken, version: version,
            lastLimboFreeVersion: lastLimboFreeVersion, isDecided: isAtEnd ? false : try bool())
    }

    mutating func globals() throws(StorageError) -> StoreGlobals {
        var globals = StoreGlobals()
        globals.lastSnapshotVersion = try timestamp()
        globals.highestTargetID = try int()
        globals.highestSequenceNumber = try integer()
        globals.highestBatchNumber = try int()
        // The first part of batch names in earlier versions.
        _ = try string()
        // Earlier versions kept only that of the last snapshot.
        globals.highestVersion = isAtEnd ? globals.lastSnapshotVersion : try timestamp()
        return globals
    }

    mutating func bundleRecord(id: String) throws(StorageError) -> BundleRecord {
        let version = try int()
        return BundleRecord(id: id, version: version, createTime: try timestamp())
    }

    mutating func namedQueryRecord(name: String) throws(StorageError) -> NamedQueryRecord {
        let query = try query()
        return NamedQueryRecord(name: name, query: query, readTime: try timestamp())
    }
}

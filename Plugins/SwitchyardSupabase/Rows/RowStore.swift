import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync

/// The rows of a project's own tables as documents, for the driver.
struct RowStore: Sendable {
    private let service: PostgRESTService
    private let catalog: RowCatalog
    private let sequence: RowSequence
    private let versions: RowVersions
    private let fences: RowFences
    private let additions: RowAdditions

    init(_ service: PostgRESTService) {
        // Tables need no installation.
        self.service = service
        catalog = RowCatalog(service.clock)
        sequence = RowSequence(now: service.now)
        versions = RowVersions()
        fences = RowFences(service.clock)
        additions = RowAdditions(service.clock)
    }

    private init(_ store: RowStore, _ service: PostgRESTService) {
        self.service = service
        (catalog, sequence) = (store.catalog, store.sequence)
        (versions, fences) = (store.versions, store.fences)
        additions = store.additions
    }

    /// This store, with the calls of another user or of only one user.
    func calling(_ service: PostgRESTService) -> RowStore { RowStore(self, service) }

    func begin(after version: Timestamp) { sequence.begin(after: version) }
    func nextVersion() -> Timestamp { sequence.next() }
    var latestVersion: Timestamp { sequence.latest }

    /// The version of a row that the functions have written.
    func written(_ path: StoragePath) -> Timestamp {
        let time = sequence.next()
        versions.forget(path, writtenAt: time)
        return time
    }

    /// The version that the database gave a row when it was given a time; `nil` if it has changed since, or is not known.
    func version(of path: StoragePath, at time: Timestamp) -> String? { versions.version(of: path, at: time) }

    /// The tags of rows that this process has read. What an earlier process stored is read again, since a change of the
    /// table's columns leaves versions as they were.
    func current(_ tags: [StoragePath: DocumentTag], of table: MappedTable) -> [StoragePath: DocumentTag] {
        tags.filter { path, tag in table.version(in: tag).map { versions.knows($0, of: path) } ?? false }
    }

    // MARK: Reading

    func documents(_ paths: [TableMappings.Place: [StoragePath]]) async throws(StorageError) -> FetchedDocuments {
        var fetched = FetchedDocuments(documents: [], readTime: sequence.next())
        let reader = reader()
        for (place, paths) in paths {
            let answer = try await reader.rows(named: paths.map(\.id), in: place)
            fetched.readTime = min(fetched.readTime, answer.version)
            let found = reader.documents(of: answer)
            for (index, document) in found.documents.enumerated() {
                fetched.documents.append(document)
                fetched.tags[document.path] = found.tags?[index]
            }
        }
        return fetched
    }

    func document(_ path: StoragePath, in place: TableMappings.Place) async throws(StorageError) -> FetchedDocuments {
        let reader = reader()
        let answer = try await reader.rows(named: [path.id], in: place)
        let found = reader.documents(of: answer)
        guard let index = found.documents.firstIndex(where: { $0.path == path }) else {
            return FetchedDocuments(documents: [.missing(path)], readTime: answer.version)
        }
        return FetchedDocuments(
            documents: [found.documents[index]], readTime: answer.version,
            tags: found.tags.map { [path: $0[index]] } ?? [:])
    }

    func results(of query: Query, in place: TableMappings.Place) async throws(StorageError) -> FetchedDocuments {
        try await reader().results(of: query, in: place)
    }

    func aggregate(
        _ query: Query, in place: TableMappings.Place, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        if aggregations.allSatisfy({ $0 == .count }) {
            let count = try await reader().count(query, in: place)
            return aggregations.map { _ in .integer(Int64(count)) }
        }
        return try await reader().aggregate(query, in: place, aggregations)
    }

    func reader(as owner: CallOwner? = nil) -> RowReader {
        RowReader(
            service: service.patient, catalog: catalog, sequence: sequence, versions: versions, additions: additions,
            reader: owner)
    }

    // MARK: Writing

    /// Refuses values that the table's columns cannot hold, as far as these are known.
    ///
    /// - Parameter isNamed: Whether the row has a key already.
    func check(_ write: DocumentWrite, in place: TableMappings.Place, isNamed: Bool = true) throws(StorageError) {
        let shape = catalog.knownShape(of: place.table) ?? RowShape(place.table, isPartial: true)
        if isNamed { _ = try RowAddress(write.path, place, shape) }
        _ = try RowChange(write, shape)
    }

    /// Refuses more deletions than fit into one request.
    func check(_ writes: [DocumentWrite], in places: [TableMappings.Place]) throws(StorageError) {
        guard writes.count > 1, writes.allSatisfy({ $0.operation == .delete && $0.precondition == .none }) else {
            return
        }
        let table = places[0].table
        // Only deletions of rows of one table are limited.
        guard places.allSatisfy({ $0.table == table }), Set(writes.map(\.path)).count == writes.count else { return }
        let shape = catalog.knownShape(of: table) ?? RowShape(table, isPartial: true)
        if try RowGroup(writes, in: places, shape) == nil { throw .manyDeletions(writes.count, from: table) }
    }

    /// The way in which writes can be carried out.
    enum Manner {
        /// In one request to a table, which is safe to repeat.
        case plain
        /// In one request, which might count twice after a lost answer, or take effect in part.
        case cautious
        /// Only by the functions.
        case functions
    }

    func manner(
        of writes: [DocumentWrite], in places: [TableMappings.Place]
    ) async throws(StorageError) -> Manner {
        // Setting columns to values does not depend on the row.
        if writes.count == 1, writes[0].isOfValues { return .plain }
        return try await reader().knowing(places[0].table) { (shape) throws(StorageError) in
            if writes.count == 1 { return try RowChange(writes[0], shape).dependsOnRow ? .cautious : .plain }
            guard let group = try RowGroup(writes, in: places, shape) else { return .functions }
            return group.kind == .deletions || group.needsParentCheck ? .cautious : .plain
        }
    }

    /// Whether the functions are known to be missing. This expires, since they may be installed in the meantime.
    var lacksFunctions: Bool { catalog.lacksFunctions }
    func noteMissingFunctions() { catalog.noteMissingFunctions() }

    func commit(
        _ write: DocumentWrite, in place: TableMappings.Place, for batch: OutgoingBatch?
    ) async throws(StorageError) -> CommitResult {
        let (shape, written) = try await writer(for: batch).write(write, place)
        return result(of: write, written.row, shape)
    }

    /// Adds a row whose key the database generates.
    func add(
        _ write: DocumentWrite, in place: TableMappings.Place, for batch: OutgoingBatch
    ) async throws(StorageError) -> (document: StoragePath, result: CommitResult) {
        let (path, shape, row) = try await writer(for: batch).add(write, place)
        let named = DocumentWrite(path: path, operation: write.operation, transforms: write.transforms)
        return (path, result(of: named, row, shape))
    }

    /// Carries out as many of the first batches as one request can: all of them, or none.
    ///
    /// - Parameter places: For each batch, the tables of its writes.
    /// - Returns: A result for each batch that took effect; `nil` if the first one needs separate requests.
    func commit(
        _ batches: [OutgoingBatch], in places: [[TableMappings.Place]]
    ) async throws(StorageError) -> [CommitResult]? {
        guard let table = places.first?.first?.table else { return nil }
        return try await reader().knowing(table) { (shape) throws(StorageError) in
            guard
                var group = try RowGroup(batches[0].writes, batches[0].bases, in: places[0], shape),
                batches.count > 1 || group.entries.count > 1
            else { return nil }
            var count = 1
            while count < batches.count, !group.isLarge {
                let batch = batches[count]
                // A write that cannot be sent is refused with its own batch, and one behind a fence waits alone.
                guard let next = try? RowGroup(batch.writes, batch.bases, in: places[count], shape),
                    !batch.writes.contains(where: { fences.fence(at: $0.path) != nil }), group.add(next)
                else { break }
                count += 1
            }
            guard group.entries.count > 1 else { return nil }
            let joined = OutgoingBatch(
                id: batches[0].id, writes: group.entries.map(\.write), mayHaveBeenSent: batches[0].mayHaveBeenSent,
                userID: batches[0].userID, bases: group.entries.map { $0.base.map { shape.tag($0) } })
            let rows = try await writer(for: joined).write(group, shape)
            return results(of: batches.prefix(count).map(\.writes), rows, shape)
        }
    }

    private func writer(for batch: OutgoingBatch?) -> RowWriter {
        RowWriter(
            reader: RowReader(
                service: service, catalog: catalog, sequence: sequence, versions: versions, additions: additions),
            fences: fences, batch: batch)
    }

    /// The results of batches that took effect together.
    ///
    /// - Parameter rows: For each write of all batches, the row that came back.
    private func results(of batches: [[DocumentWrite]], _ rows: [AnswerRow?], _ shape: RowShape) -> [CommitResult] {
        var answer = RowReader.Answer(shape: shape, version: sequence.next())
        answer.rows = rows.compactMap(\.self)
        let found = reader().documents(of: answer)
        // The index of a write's row among those returned, and that of its document.
        var (row, place, document) = (0, 0, 0)
        return batches.map { writes in
            var result = CommitResult(commitTime: answer.version)
            for write in writes {
                defer { row += 1 }
                var known: Int?
                if row < rows.count, rows[row] != nil {
                    if document < found.rows.count, found.rows[document] == place {
                        known = document
                        document += 1
                    }
                    place += 1
                }
                let version = known.flatMap { found.documents[$0].updateTime } ?? answer.version
                if writes.count == 1 { result.commitTime = version }
                result.updateTimes.append(version)
                guard write.operation != .verify else { continue }
                // The row as stored: a trigger may have changed the values, or someone recreated a deleted row.
                if let known {
                    result.outcomes.append(.returned(found.documents[known], tag: found.tags?[known]))
                } else {
                    versions.forget(write.path, writtenAt: answer.version)
                    result.outcomes.append(
                        write.operation == .delete ? .returned(.missing(write.path), tag: nil) : .unknown)
                }
            }
            return result
        }
    }

    private func result(of write: DocumentWrite, _ row: AnswerRow?, _ shape: RowShape) -> CommitResult {
        results(of: [[write]], [row], shape)[0]
    }
}

extension DocumentWrite {
    /// Whether it sets fields to values or deletes, independently of the current contents.
    fileprivate var isOfValues: Bool {
        guard transforms.isEmpty else { return false }
        return if case .patch(_, let mask) = operation { mask.allSatisfy { $0.components.count == 1 } } else { true }
    }
}

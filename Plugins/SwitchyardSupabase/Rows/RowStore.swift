import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync

/// The rows of a project's own tables as documents: what the driver needs of them.
struct RowStore: Sendable {
    private let service: PostgRESTService
    private let catalog: RowCatalog
    private let sequence: RowSequence
    private let versions: RowVersions
    private let fences: RowFences

    init(_ service: PostgRESTService) {
        // Nothing has to be installed for tables.
        self.service = service
        catalog = RowCatalog(service.clock)
        sequence = RowSequence(now: service.now)
        versions = RowVersions()
        fences = RowFences(service.clock)
    }

    private init(_ store: RowStore, _ service: PostgRESTService) {
        self.service = service
        (catalog, sequence) = (store.catalog, store.sequence)
        (versions, fences) = (store.versions, store.fences)
    }

    /// The same with another user's, or only one user's, calls.
    func calling(_ service: PostgRESTService) -> RowStore { RowStore(self, service) }

    func begin(after version: Timestamp) { sequence.begin(after: version) }
    func nextVersion() -> Timestamp { sequence.next() }

    /// The version of a row that the functions have written.
    func written(_ path: StoragePath) -> Timestamp {
        let time = sequence.next()
        versions.forget(path, writtenAt: time)
        return time
    }

    /// The version that the database gave a row when it was given a time; `nil` if it has changed since, or is not known.
    func version(of path: StoragePath, at time: Timestamp) -> String? { versions.version(of: path, at: time) }

    // MARK: Reading

    func documents(_ paths: [TableMappings.Place: [StoragePath]]) async throws(StorageError) -> FetchedDocuments {
        var fetched = FetchedDocuments(documents: [], readTime: sequence.next())
        let reader = reader()
        for (place, paths) in paths {
            let answer = try await reader.rows(named: paths.map(\.id), in: place)
            fetched.readTime = min(fetched.readTime, answer.version)
            for row in answer.rows {
                guard let document = reader.document(row, of: answer)?.document else { continue }
                fetched.documents.append(document)
                fetched.tags[document.path] = answer.shape.tag(of: row)
            }
        }
        return fetched
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
        var query = query
        query.projection = aggregations.compactMap(\.field)
        return AggregateEvaluator.values(of: aggregations, over: try await results(of: query, in: place).documents)
    }

    func reader(as owner: CallOwner? = nil) -> RowReader {
        RowReader(service: service.patient, catalog: catalog, sequence: sequence, versions: versions, reader: owner)
    }

    // MARK: Writing

    /// Whether what a write sets follows from what the row has, so that it must not take effect twice.
    func dependsOnRow(_ write: DocumentWrite, in place: TableMappings.Place) async throws(StorageError) -> Bool {
        try await reader().knowing(place.table) { (shape) throws(StorageError) in
            try RowChange(write, shape).dependsOnRow
        }
    }

    /// Whether the functions are known to be missing. Somebody may install them meanwhile, so it does not last.
    var lacksFunctions: Bool { catalog.lacksFunctions }
    func noteMissingFunctions() { catalog.noteMissingFunctions() }

    func commit(
        _ write: DocumentWrite, in place: TableMappings.Place, for batch: OutgoingBatch?
    ) async throws(StorageError) -> CommitResult {
        let reader = RowReader(service: service, catalog: catalog, sequence: sequence, versions: versions)
        let (shape, written) = try await RowWriter(reader: reader, fences: fences, batch: batch).write(write, place)
        let answer = RowReader.Answer(shape: shape, version: sequence.next())
        let document = written.row.flatMap { reader.document($0, of: answer)?.document }
        let version = document?.updateTime ?? answer.version
        if document == nil, write.operation != .verify { versions.forget(write.path, writtenAt: answer.version) }
        var result = CommitResult(commitTime: version, updateTimes: [version])
        if write.operation == .verify { return result }
        // Such as it is in the table: a trigger may have changed what was sent, or somebody made a deleted row anew.
        let returned = document.map { WriteOutcome.returned($0, tag: written.row.flatMap { shape.tag(of: $0) }) }
        result.outcomes = [
            returned ?? (write.operation == .delete ? .returned(.missing(write.path), tag: nil) : .unknown)
        ]
        return result
    }
}

extension Aggregation {
    /// The field whose values it needs.
    fileprivate var field: FieldPath? {
        switch self {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }
}

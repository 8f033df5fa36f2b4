import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Checks a target for changes. Reads a small target in full; of a large one, only keys and versions, then the rows that
/// differ.
extension RowReader {
    func check(_ target: RowTargets.Target) async throws(StorageError) -> RowTargets.Found {
        let found = try await results(of: target)
        let now = Set(found.results.map(\.path))
        let left = target.known.keys.filter { !now.contains($0) }
        guard case .query = target.watched, !left.isEmpty else { return found }
        // Whether they still exist, outside this query.
        return try await filled(found, with: left, of: target.place.table)
    }

    private func results(of target: RowTargets.Target) async throws(StorageError) -> RowTargets.Found {
        switch target.watched {
        case .document(let path): return found(try await rows(named: [path.id], in: target.place))
        case .query(let query):
            guard target.suitsDigest, let digest = try await digest(of: query, in: target.place) else {
                return found(try await rows(of: query, in: target.place))
            }
            let changed = digest.results.filter { target.known[$0.path] != $0.mark }.map(\.path)
            guard changed.count <= digest.results.count / 2 else {
                return found(try await rows(of: query, in: target.place))
            }
            return try await filled(digest, with: changed, of: target.place.table)
        }
    }

    /// - Returns: `nil` if the service cannot evaluate the query, or the rows have no versions.
    private func digest(of query: Query, in place: TableMappings.Place) async throws(StorageError) -> RowTargets.Found?
    {
        try await knowing(place.table) { (shape) throws(StorageError) in
            let plan = TableQuery(query, in: place, shape)
            guard plan.isWhole, shape.hasVersions else { return nil }
            var found = RowTargets.Found(version: sequence.next())
            found.isDigest = true
            // Pages need the columns that they are sorted by.
            let columns = shape.digestColumns + plan.orders.map(\.column).filter { !shape.digestColumns.contains($0) }
            let rows = try await pages(
                plan, columns.map(ColumnName.text).joined(separator: ","), limit: query.limit?.count,
                offset: query.offset)
            for row in additions.known(plan.isReversed ? rows.reversed() : rows, shape).rows {
                if let path = shape.path(of: row), let tag = shape.tag(of: row) {
                    found.results.append((path, tag.rawValue))
                }
            }
            return found
        }
    }

    private func filled(
        _ digest: RowTargets.Found, with changed: [StoragePath], of table: MappedTable
    ) async throws(StorageError) -> RowTargets.Found {
        var found = digest
        var read: [StoragePath: String] = [:]
        for (collection, paths) in Dictionary(grouping: changed, by: \.collection) {
            let place = TableMappings.Place(table: table, parents: table.parents(of: collection))
            let answer = try await rows(named: paths.map(\.id), in: place)
            // The current rows, which may be newer than the digest.
            let rows = documents(of: answer)
            for (index, document) in rows.documents.enumerated() {
                guard rows.areSettled[index] else {
                    found.isSettled = false
                    continue
                }
                found.documents[document.path] = document
                read[document.path] = rows.tags?[index].rawValue
            }
        }
        found.results = found.results.map { ($0.path, read[$0.path] ?? $0.mark) }
        return found
    }

    private func found(_ answer: Answer) -> RowTargets.Found {
        var found = RowTargets.Found(version: answer.version)
        found.hasTags = answer.shape.hasVersions
        let rows = documents(of: answer)
        for (index, document) in rows.documents.enumerated() {
            found.results.append((document.path, rows.tags?[index].rawValue ?? "\(document.data.hashValue)"))
            if rows.areSettled[index] { found.documents[document.path] = document } else { found.isSettled = false }
        }
        return found
    }
}

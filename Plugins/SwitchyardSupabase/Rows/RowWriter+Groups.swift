import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Several rows in one request.
extension RowWriter {
    /// The maximum number of rows in one check.
    private static let portion = 100

    /// Carries out all writes of a group, or none.
    ///
    /// - Returns: For each, the resulting row; `nil` if there is none, or if the caller may not see it.
    func write(_ group: RowGroup, _ shape: RowShape) async throws(StorageError) -> [AnswerRow?] {
        for entry in group.entries { try await passFence(entry.write, entry.row, entry.change, shape) }
        switch group.kind {
        case .sets:
            if group.needsParentCheck { try await checkParents(of: group, shape) }
            return group.inOrder(try await upsert(group.objects, group.columns(shape), shape), shape)
        case .creations: return try await create(group, shape)
        case .deletions: return try await delete(group, shape)
        }
    }

    /// Refuses to set rows of other parents, which an upsert would move.
    private func checkParents(of group: RowGroup, _ shape: RowShape) async throws(StorageError) {
        for start in stride(from: 0, to: group.entries.count, by: Self.portion) {
            let some = group.entries[start..<min(start + Self.portion, group.entries.count)]
            let rows = try await read([RowGroup.keyCondition(of: some, shape)], shape)
            for row in rows {
                let path = shape.path(of: row)
                let taken = some.first { entry in
                    entry.write.path != path
                        && entry.row.columns.allSatisfy { !shape.keys.contains($0.name) || row[$0.name] == $0.value }
                }
                if let taken { throw .existingRow(taken.row) }
            }
        }
    }

    private func create(_ group: RowGroup, _ shape: RowShape) async throws(StorageError) -> [AnswerRow?] {
        let columns = ("columns", group.columns(shape))
        do throws(StorageError) {
            let rows = try await send(
                .post, shape, [columns, ("select", shape.selection())], "return=representation,missing=default",
                group.objects)
            return group.inOrder(rows, shape)
        } catch {
            if error.isAboutRights {
                // Adding may be allowed where reading is not.
                _ = try await send(.post, shape, [columns], "return=minimal,missing=default", group.objects)
                return group.entries.map { _ in nil }
            }
            guard error.isAboutKey(of: shape) else { throw error }
            let rows = group.inOrder(try await read(group, shape), shape)
            // If all rows have exactly these values, an earlier attempt, whose answer was lost, took effect.
            if batch?.mayHaveBeenSent == true,
                zip(group.entries, rows).allSatisfy({ entry, row in row.map { entry.change.isIn($0) } ?? false })
            {
                return rows
            }
            let taken = zip(group.entries, rows).first { $0.1 != nil }?.0 ?? group.entries[0]
            throw .existingRow(taken.row)
        }
    }

    private func delete(_ group: RowGroup, _ shape: RowShape) async throws(StorageError) -> [AnswerRow?] {
        let isRepeated = batch?.mayHaveBeenSent == true
        var conditions = group.conditions(asSent: isRepeated)
        if isRepeated, !group.fits(conditions) {
            // Without a version for each row, but excluding recreated rows.
            let there = group.inOrder(try await read(group, shape), shape)
            let same = there.indices.filter { index in
                guard let row = there[index] else { return false }
                return group.entries[index].base.map { $0 == shape.version(of: row) } ?? true
            }
            guard !same.isEmpty else { return there }
            conditions = group[same].conditions(asSent: false)
        }
        let deleted = try await send(
            .delete, shape, RowCondition.parameters(conditions) + [("select", shape.pathSelection)],
            "return=representation", nil)
        guard deleted.count < group.entries.count else { return group.entries.map { _ in nil } }
        let left = group.inOrder(try await read(group, shape), shape)
        for (entry, row) in zip(group.entries, left) {
            // A row that was recreated since is another one.
            if isRepeated, let base = entry.base, row.map({ shape.version(of: $0) != base }) == true { continue }
            guard row == nil else { throw .lockedRow(entry.row) }
        }
        return left
    }

    private func read(_ group: RowGroup, _ shape: RowShape) async throws(StorageError) -> [AnswerRow] {
        var rows: [AnswerRow] = []
        for start in stride(from: 0, to: group.entries.count, by: Self.portion) {
            let some = group[start..<min(start + Self.portion, group.entries.count)]
            rows += try await read(some.conditions(asSent: false), shape)
        }
        return rows
    }
}

extension RowGroup {
    /// The rows of an answer, in the order of the writes.
    fileprivate func inOrder(_ rows: [AnswerRow], _ shape: RowShape) -> [AnswerRow?] {
        let found = Dictionary(rows.map { (shape.path(of: $0), $0) }) { first, _ in first }
        return entries.map { found[$0.write.path] }
    }
}

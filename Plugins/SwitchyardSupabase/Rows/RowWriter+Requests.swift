import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// The single requests of a write.
extension RowWriter {
    func create(_ row: RowAddress, _ change: RowChange, _ shape: RowShape) async throws(StorageError) -> Written {
        do throws(StorageError) { return try await insert(row, change, shape) } catch {
            guard error.isAboutKey(of: shape) else { throw error }
            // If the row has exactly these values, an earlier attempt, whose answer was lost, took effect.
            if batch?.mayHaveBeenSent == true, let there = try await read(row, shape), change.isIn(there) {
                return Written(row: there)
            }
            throw .existingRow(row)
        }
    }

    func update(
        _ row: RowAddress, _ change: RowChange, _ shape: RowShape, at version: String?
    ) async throws(StorageError) -> Written {
        if let written = try await patch(row, change, shape, at: version) { return Written(row: written) }
        guard let there = try await read(row, shape) else {
            throw version == nil ? .missingRow(row) : .changedRow(row.path)
        }
        if let version, shape.version(of: there) != version {
            if batch?.mayHaveBeenSent == true, change.isIn(there) { return Written(row: there) }
            throw .changedRow(row.path)
        }
        throw .lockedRow(row)
    }

    /// - Parameters:
    ///   - rows: One row, or several.
    ///   - columns: The columns to set, as a parameter; a row without one of them gets its default.
    func upsert(_ rows: JSON, _ columns: String, _ shape: RowShape) async throws(StorageError) -> [AnswerRow] {
        try await send(
            .post, shape,
            [
                ("on_conflict", shape.keys.map(ColumnName.text).joined(separator: ",")), ("columns", columns),
                ("select", shape.selection()),
            ],
            "return=representation,resolution=merge-duplicates,missing=default", rows)
    }

    func insert(_ row: RowAddress, _ change: RowChange, _ shape: RowShape) async throws(StorageError) -> Written {
        let object = JSON.object(row.object(with: change))
        do throws(StorageError) {
            return Written(
                row: try await send(.post, shape, [("select", shape.selection())], "return=representation", object)
                    .first)
        } catch {
            guard error.isAboutRights else { throw error }
            // Adding may be allowed where reading is not.
            _ = try await send(.post, shape, [], "return=minimal", object)
            return Written()
        }
    }

    /// - Returns: `nil` if no row was changed.
    func patch(
        _ row: RowAddress, _ change: RowChange, _ shape: RowShape, at version: String?
    ) async throws(StorageError) -> AnswerRow? {
        var conditions = row.conditions
        if let version { conditions.append(.test(RowShape.version, "eq", .value(version))) }
        var parameters = RowCondition.parameters(conditions) + [("select", shape.selection())]
        var preference = "return=representation"
        guard !change.values.isEmpty || change.isWhole else {
            // Nothing to set: checks only whether the row exists.
            return try await read(row, shape)
        }
        if change.isWhole {
            parameters.append(("columns", change.columns(shape).map(ColumnName.text).joined(separator: ",")))
            preference += ",missing=default"
        }
        return try await send(.patch, shape, parameters, preference, .object(change.values)).first
    }

    func delete(_ write: DocumentWrite, _ row: RowAddress, _ shape: RowShape) async throws(StorageError)
        -> Written
    {
        var conditions = row.conditions
        switch write.precondition {
        case .updateTime(let time):
            conditions.append(.test(RowShape.version, "eq", .value(try version(time, row, shape))))
        case .none, .exists:
            // A row that was recreated since is another one.
            if batch?.mayHaveBeenSent == true, let base = base(shape) {
                conditions.append(.test(RowShape.version, "eq", .value(base)))
            }
        }
        let deleted = try await send(
            .delete, shape, RowCondition.parameters(conditions) + [("select", shape.selection())],
            "return=representation", nil)
        guard deleted.isEmpty else { return Written() }
        let there = try await read(row, shape)
        switch (write.precondition, there) {
        case (.exists(true), nil): throw .missingRow(row)
        case (.updateTime, nil): throw .changedRow(row.path)
        case (_, nil): return Written()
        case (.updateTime(let time), let there?) where shape.version(of: there) != (try version(time, row, shape)):
            throw .changedRow(row.path)
        case (_, let there?):
            if batch?.mayHaveBeenSent == true, let base = base(shape), shape.version(of: there) != base {
                return Written(row: there)
            }
            throw .lockedRow(row)
        }
    }

    func verify(_ write: DocumentWrite, _ row: RowAddress, _ shape: RowShape) async throws(StorageError)
        -> Written
    {
        let there = try await read(row, shape)
        switch write.precondition {
        case .none: break
        case .exists(let exists):
            guard exists == (there != nil) else { throw exists ? .missingRow(row) : .existingRow(row) }
        case .updateTime(let time):
            guard let there, shape.version(of: there) == (try version(time, row, shape)) else {
                throw .changedRow(row.path)
            }
        }
        return Written(row: there)
    }

    func read(_ row: RowAddress, _ shape: RowShape) async throws(StorageError) -> AnswerRow? {
        try await read(row.conditions, shape).first
    }

    func read(_ conditions: [RowCondition], _ shape: RowShape) async throws(StorageError) -> [AnswerRow] {
        let request = reader.request(
            .get, shape, RowCondition.parameters(conditions) + [("select", shape.selection())])
        return try await reader.rows(in: reader.service.send(request, for: batch, as: reader.reader), of: shape)
    }

    func send(
        _ method: HTTPMethod, _ shape: RowShape, _ parameters: [(name: String, value: String)], _ preference: String,
        _ body: JSON?
    ) async throws(StorageError) -> [AnswerRow] {
        var request = reader.request(
            method, shape, parameters, body: body?.bytes() ?? [])
        request.headers["Prefer"] = preference
        do throws(StorageError) {
            let response = try await reader.service.send(request, for: batch, as: reader.reader)
            return response.body.isEmpty ? [] : try reader.rows(in: response, of: shape)
        } catch {
            if error.mayStillTakeEffect, let batch {
                for (index, write) in batch.writes.enumerated() {
                    fences.raise(at: write.path, base: base(shape, ofWrite: index))
                }
            }
            throw error.ofTable
        }
    }

    /// The version that a row had at a time.
    func version(_ time: Timestamp, _ row: RowAddress, _ shape: RowShape) throws(StorageError) -> String {
        guard shape.hasVersions else {
            throw StorageError.unsupported(
                "preconditions on versions where rows have none, as in the view “\(shape.mapping.table)”",
                by: .supabase,
                instead: "Write without one, or write to the table."
            ).asRefusal()
        }
        guard let version = reader.versions.version(of: row.path, at: time) else { throw .changedRow(row.path) }
        return version
    }
}

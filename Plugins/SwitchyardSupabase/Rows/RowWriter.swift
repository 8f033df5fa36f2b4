import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Writes rows over the data service, one request for each wherever that will do.
///
/// What depends on the row, such as an increment, is read, computed and written only if the row's version is still the same.
struct RowWriter: Sendable {
    let reader: RowReader
    let fences: RowFences
    /// The batch being sent, which must not be sent in another user's name.
    let batch: OutgoingBatch?

    private static let attempts = 60
    private static let longestPause = 100

    /// What a write has left behind.
    struct Written: Sendable {
        /// The row that came back; `nil` if the caller may not see it.
        var row: JSONObject?
        var isDeleted = false
    }

    /// Carries out one write.
    func write(_ write: DocumentWrite, _ place: TableMappings.Place) async throws(StorageError) -> (RowShape, Written) {
        try await reader.knowing(place.table) { (shape) throws(StorageError) in
            let row = try RowAddress(write.path, place, shape)
            let change = try RowChange(write, shape)
            try await passFence(row, shape)
            let written: Written =
                switch write.operation {
                case .verify: try await verify(write, row, shape)
                case .delete: try await delete(write, row, shape)
                case .set, .patch:
                    if change.dependsOnRow {
                        try await compute(write, row, change, shape)
                    } else {
                        try await send(write, row, change, shape)
                    }
                }
            return (shape, written)
        }
    }

    /// The version that the row had when the batch was first sent.
    private func base(_ shape: RowShape) -> String? {
        (batch?.bases.first ?? nil).flatMap { shape.version(in: $0) }
    }

    /// Waits until an earlier write to the row whose answer was lost can no longer take effect: it would undo this one.
    private func passFence(_ row: RowAddress, _ shape: RowShape) async throws(StorageError) {
        guard let fence = fences.fence(at: row.path) else { return }
        if !fence.isOver, shape.hasVersions, let there = try await read(row, shape), let base = fence.base,
            shape.version(of: there) != base
        {
            return fences.remove(at: row.path)
        }
        guard fence.isOver else {
            throw StorageError(
                .unavailable, "An earlier write to “\(row.path)”, whose answer was lost, may still be under way.",
                isRetryable: true)
        }
        fences.remove(at: row.path)
    }

    private func send(
        _ write: DocumentWrite, _ row: RowAddress, _ change: RowChange, _ shape: RowShape
    ) async throws(StorageError) -> Written {
        switch write.precondition {
        case .exists(false): return try await create(row, change, shape)
        case .exists(true): return try await update(row, change, shape, at: nil)
        case .updateTime(let time): return try await update(row, change, shape, at: try version(time, row, shape))
        case .none: break
        }
        if change.isWhole, row.isKey(of: shape) {
            do throws(StorageError) {
                return try await upsert(row, change, shape)
            } catch {
                // It takes the right to update, too, and that to read.
                guard error.isAboutRights else { throw error }
            }
        }
        if let row = try await patch(row, change, shape, at: nil) { return Written(row: row) }
        do throws(StorageError) {
            return try await insert(row, change, shape)
        } catch {
            guard error.isAboutKey(of: shape) else { throw error }
            // It was added in between, or is one that this user may not change, or has another parent.
            if let row = try await patch(row, change, shape, at: nil) { return Written(row: row) }
            throw .existingRow(row)
        }
    }

    // MARK: Changes that depend on the row

    private func compute(
        _ write: DocumentWrite, _ row: RowAddress, _ change: RowChange, _ shape: RowShape
    ) async throws(StorageError) -> Written {
        guard shape.hasVersions else {
            throw StorageError.unsupported(
                "changes that depend on a row's values where rows have no version, as in the view “\(shape.mapping.table)”",
                by: .supabase, instead: "Write the value itself, or write to the table."
            ).asRefusal()
        }
        for attempt in 0..<Self.attempts {
            let known = try await read(row, shape)
            if attempt == 0, batch?.mayHaveBeenSent == true, let known, shape.version(of: known) != base(shape) {
                // It may have been this write, or somebody else's: to do it again could count twice, not to do it lose it.
                throw StorageError(
                    .aborted,
                    "It is not known whether this write to “\(row.path)”, whose answer was lost, has taken effect, because the row "
                        + "has changed since. Look at the row, and write again what is missing.", isRetryable: false,
                    isRefusal: true)
            }
            switch write.precondition {
            case .exists(true) where known == nil: throw .missingRow(row)
            case .exists(false) where known != nil: throw .existingRow(row)
            case .updateTime(let time):
                guard let known, shape.version(of: known) == (try version(time, row, shape)) else {
                    throw .changedRow(row.path)
                }
            default: break
            }
            let computed = try RowChange(write, over: known.flatMap { shape.document($0, at: .never)?.data }, shape)
            if let known {
                if let written = try await patch(row, computed, shape, at: shape.version(of: known)) {
                    return Written(row: written)
                }
                let now = try await read(row, shape)
                if let now, shape.version(of: now) == shape.version(of: known) { throw .lockedRow(row) }
                // Others are at it, too: not all at the same time again.
                let pause = Int.random(in: 0...min(5 * (attempt + 1), Self.longestPause))
                try? await reader.service.clock.sleep(for: .milliseconds(pause))
            } else {
                do throws(StorageError) {
                    return try await insert(row, computed, shape)
                } catch {
                    guard error.isAboutKey(of: shape) else { throw error }
                }
            }
        }
        throw StorageError(
            .aborted, "The row “\(row.path)” was changed by others each time before this write came to it. Try again.",
            isRetryable: false, isRefusal: true)
    }

    // MARK: Requests

    private func create(_ row: RowAddress, _ change: RowChange, _ shape: RowShape) async throws(StorageError) -> Written
    {
        do throws(StorageError) { return try await insert(row, change, shape) } catch {
            guard error.isAboutKey(of: shape) else { throw error }
            // A row with these very values is what an attempt has left whose answer was lost.
            if batch?.mayHaveBeenSent == true, let there = try await read(row, shape), change.isIn(there) {
                return Written(row: there)
            }
            throw .existingRow(row)
        }
    }

    private func update(
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

    private func upsert(_ row: RowAddress, _ change: RowChange, _ shape: RowShape) async throws(StorageError) -> Written
    {
        let columns = row.columns.map(\.name) + change.columns(shape)
        let answer = try await send(
            .post, shape,
            [
                ("on_conflict", shape.keys.map(ColumnName.text).joined(separator: ",")),
                ("columns", columns.map(ColumnName.text).joined(separator: ",")), ("select", shape.selection()),
            ],
            "return=representation,resolution=merge-duplicates,missing=default", row.object(with: change))
        return Written(row: answer.first)
    }

    private func insert(_ row: RowAddress, _ change: RowChange, _ shape: RowShape) async throws(StorageError) -> Written
    {
        let object = row.object(with: change)
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
    private func patch(
        _ row: RowAddress, _ change: RowChange, _ shape: RowShape, at version: String?
    ) async throws(StorageError) -> JSONObject? {
        var conditions = row.conditions
        if let version { conditions.append(.test(RowShape.version, "eq", .value(version))) }
        var parameters = RowCondition.parameters(conditions) + [("select", shape.selection())]
        var preference = "return=representation"
        guard !change.values.isEmpty || change.isWhole else {
            // Nothing to set: whether it is there is all that can be told.
            return try await read(row, shape)
        }
        if change.isWhole {
            parameters.append(("columns", change.columns(shape).map(ColumnName.text).joined(separator: ",")))
            preference += ",missing=default"
        }
        return try await send(.patch, shape, parameters, preference, change.values).first
    }

    private func delete(_ write: DocumentWrite, _ row: RowAddress, _ shape: RowShape) async throws(StorageError)
        -> Written
    {
        var conditions = row.conditions
        switch write.precondition {
        case .updateTime(let time):
            conditions.append(.test(RowShape.version, "eq", .value(try version(time, row, shape))))
        case .none, .exists:
            // A row that was made anew since is another one.
            if batch?.mayHaveBeenSent == true, let base = base(shape) {
                conditions.append(.test(RowShape.version, "eq", .value(base)))
            }
        }
        let deleted = try await send(
            .delete, shape, RowCondition.parameters(conditions) + [("select", shape.selection())],
            "return=representation", nil)
        guard deleted.isEmpty else { return Written(row: nil, isDeleted: true) }
        let there = try await read(row, shape)
        switch (write.precondition, there) {
        case (.exists(true), nil): throw .missingRow(row)
        case (.updateTime, nil): throw .changedRow(row.path)
        case (_, nil): return Written(row: nil, isDeleted: true)
        case (.updateTime(let time), let there?) where shape.version(of: there) != (try version(time, row, shape)):
            throw .changedRow(row.path)
        case (_, let there?):
            if batch?.mayHaveBeenSent == true, let base = base(shape), shape.version(of: there) != base {
                return Written(row: there)
            }
            throw .lockedRow(row)
        }
    }

    private func verify(_ write: DocumentWrite, _ row: RowAddress, _ shape: RowShape) async throws(StorageError)
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

    private func read(_ row: RowAddress, _ shape: RowShape) async throws(StorageError) -> JSONObject? {
        let request = reader.request(
            .get, shape, RowCondition.parameters(row.conditions) + [("select", shape.selection())])
        return try await reader.rows(in: reader.service.send(request, for: batch, as: reader.reader), of: shape).first
    }

    private func send(
        _ method: HTTPMethod, _ shape: RowShape, _ parameters: [(name: String, value: String)], _ preference: String,
        _ object: JSONObject?
    ) async throws(StorageError) -> [JSONObject] {
        var request = reader.request(
            method, shape, parameters, body: object.map { JSON.object($0).bytes() } ?? [])
        request.headers["Prefer"] = preference
        do throws(StorageError) {
            let response = try await reader.service.send(request, for: batch, as: reader.reader)
            return response.body.isEmpty ? [] : try reader.rows(in: response, of: shape)
        } catch {
            if error.mayHaveBeenCarriedOut, let batch {
                for write in batch.writes { fences.raise(at: write.path, base: base(shape)) }
            }
            throw error.ofTable
        }
    }

    /// The version that a row had at a time.
    private func version(_ time: Timestamp, _ row: RowAddress, _ shape: RowShape) throws(StorageError) -> String {
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

extension StorageError {
    fileprivate static func missingRow(_ row: RowAddress) -> StorageError {
        StorageError(
            .notFound, "The row “\(row.path)” does not exist, or may not be read.", isRetryable: false, isRefusal: true)
    }
    fileprivate static func existingRow(_ row: RowAddress) -> StorageError {
        StorageError(.alreadyExists, "The row “\(row.path)” exists.", isRetryable: false, isRefusal: true)
    }
    static func changedRow(_ path: StoragePath) -> StorageError {
        StorageError(
            .failedPrecondition,
            "The row “\(path)” is not, or can no longer be shown to be, what it was when it was read.",
            isRetryable: false, isRefusal: true)
    }
    fileprivate static func lockedRow(_ row: RowAddress) -> StorageError {
        StorageError(
            .unauthorized,
            "The row “\(row.path)” may be read but not changed: a policy of its table does not allow it, or a trigger prevents it.",
            isRetryable: false, isRefusal: true)
    }

    private var failure: PostgRESTFailure? { underlying as? PostgRESTFailure }

    /// Whether the request may have taken effect, or may still do so.
    fileprivate var mayHaveBeenCarriedOut: Bool {
        if let error = underlying as? TransportError { return error.mayHaveBeenSent }
        return failure.map { $0.code == nil && $0.status >= 500 } ?? false
    }

    fileprivate var isAboutRights: Bool { failure?.code == "42501" }

    /// Whether the row's own key is taken, and not some other unique value.
    fileprivate func isAboutKey(of shape: RowShape) -> Bool {
        guard let failure, failure.code == "23505" else { return false }
        guard let details = failure.details, let start = details.firstIndex(of: "("),
            let end = details.firstIndex(of: ")")
        else { return true }
        let columns = details[details.index(after: start)..<end].split(separator: ",").map {
            $0.drop { $0 == " " }.filter { $0 != "\"" }
        }
        return Set(columns).isSubset(of: Set(shape.table.parentColumns + [shape.mapping.idColumn]))
    }

    /// Mistakes of the set-up are no refusals: what is queued waits until they are mended.
    fileprivate var ofTable: StorageError {
        guard let failure, let code = failure.code else { return self }
        switch code {
        case "PGRST204", "PGRST205", "PGRST106", "PGRST125", "42P01", "42703", "3F000": return asRefusal(false)
        case "42501" where failure.message.includes("permission denied"): return asRefusal(false)
        case "23505":
            return StorageError(.failedPrecondition, message, isRetryable: false, underlying: failure, isRefusal: true)
        default: return self
        }
    }
}

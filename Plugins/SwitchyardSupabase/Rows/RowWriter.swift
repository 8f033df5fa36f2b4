import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Writes rows through the data service, with one request each where possible.
///
/// A change that depends on the row, such as an increment, is read, computed, and written only if the version is unchanged.
struct RowWriter: Sendable {
    let reader: RowReader
    let fences: RowFences
    /// The batch being sent, which must not be sent in another user's name.
    let batch: OutgoingBatch?

    private static let attempts = 60
    private static let longestPause = 100

    /// The result of a write.
    struct Written: Sendable {
        /// The returned row; `nil` if there is none, or if the caller may not see it.
        var row: AnswerRow?
    }

    /// Carries out one write.
    func write(_ write: DocumentWrite, _ place: TableMappings.Place) async throws(StorageError) -> (RowShape, Written) {
        try await reader.knowing(place.table) { (shape) throws(StorageError) in
            let row = try RowAddress(write.path, place, shape)
            let change = try RowChange(write, shape)
            try await passFence(write, row, change, shape)
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
    func base(_ shape: RowShape, ofWrite index: Int = 0) -> String? {
        guard let bases = batch?.bases, index < bases.count else { return nil }
        return bases[index].flatMap { shape.version(in: $0) }
    }

    /// Waits until an earlier write to the row whose answer was lost can no longer take effect: it would undo this one.
    func passFence(
        _ write: DocumentWrite, _ row: RowAddress, _ change: RowChange, _ shape: RowShape
    ) async throws(StorageError) {
        guard let fence = fences.fence(at: row.path), !fence.isAddition || write.operation == .delete else { return }
        var hasPassed = fence.isOver
        if !hasPassed, !fence.isAddition {
            hasPassed = try await hasLanded(write, row, change, shape, base: fence.base)
        }
        if hasPassed { return fences.remove(at: row.path) }
        throw StorageError(
            .unavailable, "An earlier write to “\(row.path)”, whose answer was lost, may still be under way.",
            isRetryable: true)
    }

    /// Whether the earlier write is known to have taken effect.
    private func hasLanded(
        _ write: DocumentWrite, _ row: RowAddress, _ change: RowChange, _ shape: RowShape, base: String?
    ) async throws(StorageError) -> Bool {
        guard let there = try await read(row, shape) else { return false }
        if shape.hasVersions, let base { return shape.version(of: there) != base }
        // The row was not known, most likely because this batch adds it.
        guard batch?.mayHaveBeenSent == true, write.operation.isSet else { return false }
        return write.precondition == .exists(false) || change.isIn(there)
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
                let rows = JSON.object(row.object(with: change))
                return Written(row: try await upsert(rows, row.columns(with: change, shape), shape).first)
            } catch {
                // It also requires the rights to update and to read.
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
                // Either this write or another one changed the row: repeating it could count twice, skipping it could lose it.
                throw StorageError(
                    .aborted,
                    "It is not known whether this write to “\(row.path)”, whose answer was lost, has taken effect, because the row "
                        + "has changed since. Read the row, and write again what is missing.", isRetryable: false,
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
                // Other clients are retrying, too; a random delay spreads them.
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
}

extension DocumentWrite.Operation {
    fileprivate var isSet: Bool { if case .set = self { true } else { false } }
}

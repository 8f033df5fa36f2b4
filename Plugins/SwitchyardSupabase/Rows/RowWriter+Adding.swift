import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Adding rows whose keys the database generates.
extension RowWriter {
    private static let additions = 5

    /// Adds a row, once. A lost answer is recovered if the table has a witness: a column with a value of the batch's own.
    func add(
        _ write: DocumentWrite, _ place: TableMappings.Place
    ) async throws(StorageError) -> (path: StoragePath, shape: RowShape, row: AnswerRow) {
        guard case .set = write.operation, write.precondition == .none || write.precondition == .exists(false) else {
            throw .unnamedRow(write.path, place.table)
        }
        return try await reader.knowing(place.table) { (shape) throws(StorageError) in
            let change = try RowChange(write, over: nil, shape)
            var object = change.values
            for (column, name) in zip(place.table.parentColumns, place.parents ?? []) {
                object[column] = shape.kind(of: column).json(named: name) ?? .string(name)
            }
            let row = try await add(object, shape)
            guard let path = shape.path(of: row) else { throw .unreadableAnswer }
            fences.moveAddition(from: write.path, to: path)
            return (path, shape, row)
        }
    }

    private func add(_ object: JSONObject, _ shape: RowShape) async throws(StorageError) -> AnswerRow {
        let wasSent = batch?.mayHaveBeenSent == true
        guard let column = shape.mapping.witnessColumn, let batch else {
            // Only once: there would be no way to know whether it exists already.
            if wasSent { throw StorageError.unknownAddition(to: shape.mapping, nil).asRefusal() }
            do throws(StorageError) { return try await insert(object, shape) } catch {
                throw error.mayHaveTakenEffect ? .unknownAddition(to: shape.mapping, error) : error
            }
        }
        let witness = RowWitness(column: column, ofBatch: batch.id)
        var object = object
        object[column] = .string(witness.value)
        // A queue sends it again by itself, after a while.
        let isQueued = !batch.bases.isEmpty
        if isQueued { reader.additions.begin(witness) }
        var isInDoubt = wasSent
        var attempt = 1
        while true {
            do throws(StorageError) {
                let row = try await add(object, witness, shape, isInDoubt: isInDoubt)
                reader.additions.end(witness)
                return row
            } catch {
                isInDoubt = isInDoubt || error.mayHaveTakenEffect
                if error.isRefusal { reader.additions.end(witness) }
                guard isInDoubt, !isQueued, !error.isRefusal else { throw error }
                guard error.isRetryable, attempt < Self.additions else {
                    throw .unknownAddition(to: shape.mapping, error)
                }
                attempt += 1
                try? await reader.service.clock.sleep(for: .milliseconds(200))
            }
        }
    }

    /// - Parameter isInDoubt: Whether an earlier attempt may have added the row, or may still do so.
    private func add(
        _ object: JSONObject, _ witness: RowWitness, _ shape: RowShape, isInDoubt: Bool
    ) async throws(StorageError) -> AnswerRow {
        if isInDoubt, let row = try await read([witness.condition], shape).first { return row }
        do throws(StorageError) { return try await insert(object, shape) } catch {
            guard error.isRefusal, isInDoubt || error.isAboutUniqueness else { throw error }
            // It may have been added meanwhile, and what is in the way is the row itself.
            if let row = try await read([witness.condition], shape).first { return row }
            throw error.isAboutWitness(witness.column) ? .hiddenAddition(to: shape.mapping) : error
        }
    }

    private func insert(_ object: JSONObject, _ shape: RowShape) async throws(StorageError) -> AnswerRow {
        let rows = try await send(
            .post, shape, [("select", shape.selection())], "return=representation", .object(object))
        guard let row = rows.first else { throw .vanishedRow(of: shape.mapping) }
        return row
    }
}

/// What tells the row that a batch added from all others: a value of a unique column that is the same at every attempt, also
/// after a restart, because it follows from the name of the batch.
struct RowWitness: Hashable, Sendable {
    let column: String
    /// A UUID.
    let value: String

    init(column: String, ofBatch id: String) {
        self.column = column
        var bytes = Array(SHA256.digest(of: Array(id.utf8)).prefix(16))
        // Version 8: made as the program likes.
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let parts = [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
        value = parts.map { Hex.encode(Array($0)) }.joined(separator: "-")
    }

    var condition: RowCondition { .test(column, "eq", .value(value)) }
}

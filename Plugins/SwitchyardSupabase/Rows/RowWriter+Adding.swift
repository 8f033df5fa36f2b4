import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Adding rows whose keys the database generates.
extension RowWriter {
    private static let additions = 5

    /// Adds a row, once. A lost answer is recovered if the table has a witness: a column with a value that the client chose.
    func add(
        _ write: DocumentWrite, _ place: TableMappings.Place
    ) async throws(StorageError) -> (path: StoragePath, shape: RowShape, row: AnswerRow) {
        guard case .set = write.operation, write.precondition == .none || write.precondition == .exists(false) else {
            throw .unnamedRow(write.path, place.table)
        }
        let witness = UUID().uuidString.lowercased()
        return try await reader.knowing(place.table) { (shape) throws(StorageError) in
            let change = try RowChange(write, over: nil, shape)
            var object = change.values
            for (column, name) in zip(place.table.parentColumns, place.parents ?? []) {
                object[column] = shape.kind(of: column).json(named: name) ?? .string(name)
            }
            if let column = shape.mapping.witnessColumn { object[column] = .string(witness) }
            let row = try await add(object, witness, shape)
            guard let path = shape.path(of: row) else { throw .unreadableAnswer }
            return (path, shape, row)
        }
    }

    private func add(_ object: JSONObject, _ witness: String, _ shape: RowShape) async throws(StorageError)
        -> AnswerRow
    {
        for _ in 0..<Self.additions {
            do throws(StorageError) {
                let rows = try await send(
                    .post, shape, [("select", shape.selection())], "return=representation", .object(object))
                guard let row = rows.first else { throw .vanishedRow(of: shape.mapping) }
                return row
            } catch {
                guard error.mayHaveTakenEffect || error.isAboutUniqueness else { throw error }
                guard let column = shape.mapping.witnessColumn else {
                    throw error.mayHaveTakenEffect ? .unknownAddition(to: shape.mapping, error) : error
                }
                do throws(StorageError) {
                    let own = RowCondition.test(column, "eq", .value(witness))
                    if let row = try await read([own], shape).first { return row }
                } catch {
                    guard error.isRetryable else { throw error }
                }
                // Another unique value of the row is taken.
                guard error.mayHaveTakenEffect else { throw error }
                try? await reader.service.clock.sleep(for: .milliseconds(200))
            }
        }
        throw .unknownAddition(to: shape.mapping, nil)
    }
}

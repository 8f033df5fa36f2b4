import Foundation
import Switchyard

/// What can still be read of the queues in a damaged database.
///
/// Damage of one page hides only the rows on it, and those that a walk over the table would reach behind it. So the rows are
/// looked up one by one, and their numbers are gathered from both ends of the table and of its index.
struct SQLiteSalvage {
    struct Row<Batch: Sendable>: Sendable {
        let owner: QueueOwner
        let batch: Batch
    }

    private(set) var batches: [Row<QueuedBatch>] = []
    private(set) var refused: [Row<RefusedBatch>] = []
    /// Whether no row is missing, as far as can be seen.
    private(set) var isComplete = true

    /// The number of missing batches that are looked for between two known ones.
    private static let longestGap = 10_000

    init() {}

    /// - Parameter isWanted: Whether to read a user's queue.
    init(_ file: URL, where isWanted: (QueueOwner) -> Bool) {
        do throws(StorageError) {
            let connection = try SQLiteConnection(path: file.path)
            _ = try connection.number("PRAGMA locking_mode = EXCLUSIVE") as Int64?
            try connection.run("PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
            readBatches(connection, isWanted)
            readRefused(connection, isWanted)
        } catch {
            isComplete = false
        }
    }

    private mutating func attempt(_ body: () throws(StorageError) -> Void) {
        do throws(StorageError) { try body() } catch { isComplete = false }
    }

    // MARK: Batches

    private mutating func readBatches(_ connection: SQLiteConnection, _ isWanted: (QueueOwner) -> Bool) {
        var numbers: [QueueOwner: Set<Int>] = [:]
        func gather(_ row: SQLiteRow) {
            numbers[QueueOwner(key: row.text(0)), default: []].insert(Int(row.integer(1)))
        }
        let walks: [StaticString] = [
            "SELECT owner, number FROM batches ORDER BY owner, number",
            "SELECT owner, number FROM batches ORDER BY owner DESC, number DESC",
            "SELECT owner, number FROM batch_paths ORDER BY path, owner, number",
            "SELECT owner, number FROM batch_paths ORDER BY path DESC, owner DESC, number DESC",
        ]
        for walk in walks {
            attempt { () throws(StorageError) in try connection.statement(walk).rows { gather($0) } }
        }
        for (owner, known) in numbers.sorted(by: { $0.key.key.utf8Ordering(to: $1.key.key) == .before })
        where isWanted(owner) {
            for number in SQLiteSalvage.filled(known) {
                var batch: QueuedBatch?
                attempt { () throws(StorageError) in
                    batch = try connection.statement("SELECT record FROM batches WHERE owner = ? AND number = ?")
                        .bind(owner.key).bind(number).first { row throws(StorageError) in
                            try row.record(0) { reader throws(StorageError) in try reader.queuedBatch(number: number) }
                        }
                }
                if let batch {
                    batches.append(Row(owner: owner, batch: batch))
                } else if known.contains(number) {
                    isComplete = false
                }
            }
        }
    }

    /// The numbers, and those between them, in order.
    private static func filled(_ numbers: Set<Int>) -> [Int] {
        var result: [Int] = []
        for number in numbers.sorted() {
            if let last = result.last, number - last <= longestGap { result += (last + 1)..<number }
            result.append(number)
        }
        return result
    }

    // MARK: Rejected batches

    private mutating func readRefused(_ connection: SQLiteConnection, _ isWanted: (QueueOwner) -> Bool) {
        var found: [Int64: Row<RefusedBatch>] = [:]
        func take(_ row: SQLiteRow) throws(StorageError) {
            let owner = QueueOwner(key: row.text(1))
            guard isWanted(owner), found[row.integer(0)] == nil else { return }
            let batch = try row.record(2) { reader throws(StorageError) in try reader.refusedBatch() }
            found[row.integer(0)] = Row(owner: owner, batch: batch)
        }
        let walks: [StaticString] = [
            "SELECT place, owner, record FROM refused ORDER BY place",
            "SELECT place, owner, record FROM refused ORDER BY place DESC",
        ]
        for walk in walks {
            attempt { () throws(StorageError) in
                try connection.statement(walk).rows { row throws(StorageError) in try take(row) }
            }
        }
        refused = found.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: Keeping

    /// Puts everything among the rejected batches of a new store: the user decides about it.
    func keep(in rows: SQLiteRows) throws(StorageError) {
        guard !batches.isEmpty || !refused.isEmpty else { return }
        do throws(StorageError) {
            try rows.begin(isDurable: true)
            for row in refused { try rows.putRefused(row.batch, of: row.owner) }
            for row in batches { try rows.putRefused(RefusedBatch(salvaged: row.batch), of: row.owner) }
            try rows.commit()
        } catch {
            rows.rollBack()
            throw error
        }
    }
}

extension RefusedBatch {
    fileprivate init(salvaged batch: QueuedBatch) {
        self.init(
            id: batch.id, writes: batch.writes, refusedAt: batch.queuedAt, code: .localStore,
            message:
                "The data kept on this device was damaged. This write was read from it and is not queued any more; it may "
                + "have been sent. Requeue it to send it, or drop it.")
    }
}

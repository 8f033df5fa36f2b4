import Switchyard
import SwitchyardBytes
import Synchronization

/// The rows that this client is adding, by their witnesses. Until it knows the answer, it shows them as they wait, so they are left
/// out of what is read: otherwise they would be there twice.
final class RowAdditions: Sendable {
    /// How long a row whose answer is lost is left out: longer than a queue pauses between two attempts. If it is given up, the row
    /// is one like others.
    private static let longestDoubt = Duration.seconds(120)

    private let clock: any Clock<Duration>
    private let open = Mutex<[String: Stopwatch]>([:])

    init(_ clock: any Clock<Duration>) { self.clock = clock }

    func begin(_ witness: RowWitness) { open.withLock { $0[witness.value] = Stopwatch(clock) } }
    func end(_ witness: RowWitness) { open.withLock { _ = $0.removeValue(forKey: witness.value) } }

    /// - Returns: The rows that are not being added, and how many are.
    func known(_ rows: [AnswerRow], _ shape: RowShape) -> (rows: [AnswerRow], hidden: Int) {
        guard let column = shape.mapping.witnessColumn, !rows.isEmpty else { return (rows, 0) }
        let witnesses = open.withLock { open -> Set<String> in
            for (witness, since) in open where since.elapsed > Self.longestDoubt { open[witness] = nil }
            return Set(open.keys)
        }
        guard !witnesses.isEmpty else { return (rows, 0) }
        let known = rows.filter { row in row[column]?.string.map { !witnesses.contains($0) } ?? true }
        return (known, rows.count - known.count)
    }
}

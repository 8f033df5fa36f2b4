import Switchyard
import Synchronization

/// The newest version of each row in the database, with the time that this client assigned to it.
final class RowVersions: Sendable {
    private struct Known {
        let path: StoragePath
        var version: String
        /// When it was first seen.
        var since: Timestamp
    }

    /// In the order in which the rows were first seen. The same query finds them in nearly that order again, so that most are
    /// right behind the one before, and need not be looked up.
    private struct Rows {
        var known: [Known] = []
        private var places: [StoragePath: Int] = [:]

        /// - Parameter guess: Where it may be.
        func place(of path: StoragePath, guess: Int) -> Int? {
            if guess < known.count, known[guess].path == path { return guess }
            return places[path]
        }

        mutating func add(_ row: Known) {
            places[row.path] = known.count
            known.append(row)
        }

        mutating func set(_ row: Known) {
            if let place = places[row.path] { known[place] = row } else { add(row) }
        }

        subscript(path: StoragePath) -> Known? { places[path].map { known[$0] } }

        mutating func removeAll() { self = Rows() }
    }

    private static let limit = 50_000
    private let rows = Mutex(Rows())

    /// The times at which these versions of rows that were read or written were first seen.
    ///
    /// - Parameters:
    ///   - paths: The rows.
    ///   - seen: Their versions.
    ///   - time: When the read began, or the write was answered.
    /// - Returns: For each row, its time; `nil` if the answer may be older than what is known: it was asked for before a write
    ///   had its answer.
    func times(of paths: [StoragePath], in seen: [String], from time: Timestamp) -> [Timestamp?] {
        rows.withLock { rows in
            if rows.known.count >= Self.limit { rows.removeAll() }
            var times: [Timestamp?] = []
            times.reserveCapacity(paths.count)
            var guess = 0
            for index in paths.indices {
                guard let place = rows.place(of: paths[index], guess: guess) else {
                    rows.add(Known(path: paths[index], version: seen[index], since: time))
                    times.append(time)
                    continue
                }
                guess = place + 1
                if rows.known[place].version == seen[index] {
                    times.append(rows.known[place].since)
                } else if rows.known[place].since < time {
                    rows.known[place].version = seen[index]
                    rows.known[place].since = time
                    times.append(time)
                } else {
                    times.append(nil)
                }
            }
            return times
        }
    }

    /// Records that a write was answered and the row's state is unknown, so that older answers do not count.
    func forget(_ path: StoragePath, writtenAt time: Timestamp) {
        rows.withLock { $0.set(Known(path: path, version: "", since: time)) }
    }

    /// The version that a row had when it was given a time; `nil` if it has changed since, or is not known.
    func version(of path: StoragePath, at time: Timestamp) -> String? {
        rows.withLock { rows in rows[path].flatMap { $0.since <= time && !$0.version.isEmpty ? $0.version : nil } }
    }

    /// Whether a row had this version when this process last saw it.
    func knows(_ version: String, of path: StoragePath) -> Bool { rows.withLock { $0[path]?.version == version } }
}

import Switchyard
import Synchronization

/// The newest version of each row in the database, with the time that this client assigned to it.
final class RowVersions: Sendable {
    private struct Known {
        var version: String
        /// When it was first seen.
        var since: Timestamp
    }

    private static let limit = 50_000
    private let rows = Mutex<[StoragePath: Known]>([:])

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
            if rows.count >= Self.limit { rows.removeAll() }
            var times: [Timestamp?] = []
            times.reserveCapacity(paths.count)
            for (path, version) in zip(paths, seen) {
                if let known = rows[path] {
                    guard known.version != version else {
                        times.append(known.since)
                        continue
                    }
                    guard known.since < time else {
                        times.append(nil)
                        continue
                    }
                }
                rows[path] = Known(version: version, since: time)
                times.append(time)
            }
            return times
        }
    }

    /// Records that a write was answered and the row's state is unknown, so that older answers do not count.
    func forget(_ path: StoragePath, writtenAt time: Timestamp) {
        rows.withLock { $0[path] = Known(version: "", since: time) }
    }

    /// The version that a row had when it was given a time; `nil` if it has changed since, or is not known.
    func version(of path: StoragePath, at time: Timestamp) -> String? {
        rows.withLock { rows in rows[path].flatMap { $0.since <= time && !$0.version.isEmpty ? $0.version : nil } }
    }

    /// Whether a row had this version when this process last saw it.
    func knows(_ version: String, of path: StoragePath) -> Bool { rows.withLock { $0[path]?.version == version } }
}

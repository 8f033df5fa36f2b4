import Switchyard
import Synchronization

/// Which version of a row the database had at the times that this client has given to it: the newest per row.
final class RowVersions: Sendable {
    private struct Known {
        var version: String
        /// When it was first seen.
        var since: Timestamp
    }

    private static let limit = 50_000
    private let rows = Mutex<[StoragePath: Known]>([:])

    /// The times of rows that were read or written: those at which these versions of them were first seen.
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

    /// A write was answered at a time, and what the row is now is not known: older answers say nothing about it.
    func forget(_ path: StoragePath, writtenAt time: Timestamp) {
        rows.withLock { $0[path] = Known(version: "", since: time) }
    }

    /// The version that a row had when it was given a time; `nil` if it has changed since, or is not known.
    func version(of path: StoragePath, at time: Timestamp) -> String? {
        rows.withLock { rows in rows[path].flatMap { $0.since <= time && !$0.version.isEmpty ? $0.version : nil } }
    }

    /// Whether a row had a version when this process saw it last.
    func knows(_ version: String, of path: StoragePath) -> Bool { rows.withLock { $0[path]?.version == version } }
}

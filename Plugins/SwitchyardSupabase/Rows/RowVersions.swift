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

    /// The time of a row that was read or written: that at which this version of it was first seen.
    ///
    /// - Returns: `nil` for an answer that may be older than what is known: it was asked for before a write had its answer.
    func time(of version: String, at path: StoragePath, from time: Timestamp) -> Timestamp? {
        rows.withLock { rows in
            if let known = rows[path] {
                if known.version == version { return known.since }
                guard known.since < time else { return nil }
            } else if rows.count >= Self.limit {
                rows.removeAll()
            }
            rows[path] = Known(version: version, since: time)
            return time
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

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
    ///   - seen: Rows with their versions.
    ///   - time: When the read began, or the write was answered.
    /// - Returns: For each row, its time; `nil` if the answer may be older than what is known: it was asked for before a write
    ///   had its answer.
    func times(of seen: [(path: StoragePath, version: String)], from time: Timestamp) -> [Timestamp?] {
        rows.withLock { rows in
            if rows.count >= Self.limit { rows.removeAll() }
            return seen.map { path, version in
                Self.note(version, time, &rows[path, default: Known(version: version, since: time)])
            }
        }
    }

    private static func note(_ version: String, _ time: Timestamp, _ known: inout Known) -> Timestamp? {
        if known.version == version { return known.since }
        guard known.since < time else { return nil }
        known = Known(version: version, since: time)
        return time
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

import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// The errors of rows, and what the service's answers mean for them.
extension StorageError {
    static func missingRow(_ row: RowAddress) -> StorageError {
        StorageError(
            .notFound, "The row “\(row.path)” does not exist, or may not be read.", isRetryable: false, isRefusal: true)
    }
    static func existingRow(_ row: RowAddress) -> StorageError {
        StorageError(.alreadyExists, "The row “\(row.path)” exists.", isRetryable: false, isRefusal: true)
    }
    static func changedRow(_ path: StoragePath) -> StorageError {
        StorageError(
            .failedPrecondition,
            "The row “\(path)” is not, or can no longer be shown to be, what it was when it was read.",
            isRetryable: false, isRefusal: true)
    }
    static func lockedRow(_ row: RowAddress) -> StorageError {
        StorageError(
            .unauthorized,
            "The row “\(row.path)” may be read but not changed: a policy of its table does not allow it, or a trigger prevents it.",
            isRetryable: false, isRefusal: true)
    }

    private var failure: PostgRESTFailure? { underlying as? PostgRESTFailure }

    /// Whether the request may have taken effect, or may still do so.
    var mayHaveBeenCarriedOut: Bool {
        if let error = underlying as? TransportError { return error.mayHaveBeenSent }
        return failure.map { $0.code == nil && $0.status >= 500 } ?? false
    }

    var isAboutRights: Bool { failure?.code == "42501" }

    /// Whether the row's own key is taken, and not some other unique value.
    func isAboutKey(of shape: RowShape) -> Bool {
        guard let failure, failure.code == "23505" else { return false }
        guard let details = failure.details, let start = details.firstIndex(of: "("),
            let end = details.firstIndex(of: ")")
        else { return true }
        let columns = details[details.index(after: start)..<end].split(separator: ",").map {
            $0.drop { $0 == " " }.filter { $0 != "\"" }
        }
        return Set(columns).isSubset(of: Set(shape.table.parentColumns + [shape.mapping.idColumn]))
    }

    /// Mistakes of the set-up are no refusals: what is queued waits until they are mended.
    var ofTable: StorageError {
        guard let failure, let code = failure.code else { return self }
        switch code {
        case "PGRST204", "PGRST205", "PGRST106", "PGRST125", "42P01", "42703", "3F000": return asRefusal(false)
        case "42501" where failure.message.includes("permission denied"): return asRefusal(false)
        case "23505":
            return StorageError(.failedPrecondition, message, isRetryable: false, underlying: failure, isRefusal: true)
        default: return self
        }
    }
}

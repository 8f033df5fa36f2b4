import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// Errors about rows, and their meaning for retries.
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
    static var separateRows: StorageError {
        .unsupported(
            "changes to several rows in one batch, other than sets, creations or deletions in one table, nor rows together "
                + "with documents, without functions in the database", by: .supabase,
            instead:
                "Write the rows one by one, or install the functions with “switchyard supabase install --documents”."
        ).asRefusal()
    }
    static func manyDeletions(_ count: Int, from table: MappedTable) -> StorageError {
        .unsupported(
            "\(count) deletions from “\(table.mapping.table)” in one batch, since their keys do not fit into one address",
            by: .supabase,
            instead:
                "Delete up to \(RowGroup.maximumDeletions) rows together, or what they belong to where the foreign key says “on delete cascade”."
        ).asRefusal()
    }
    static func unnamedRow(_ path: StoragePath, _ table: MappedTable) -> StorageError {
        StorageError(
            .invalidArgument,
            "“\(path)” stands for a row that has no key yet, since the database makes the keys of “\(table.mapping.table)”. It "
                + "can only be created; the receipt then names the document.", isRefusal: true)
    }
    static func namelessRow(_ path: StoragePath) -> StorageError {
        StorageError(
            .invalidArgument,
            "“\(path)” stands for a row that has no key yet. It can only be created; afterwards it can be written to and referred to.",
            isRefusal: true)
    }
    static func hiddenAddition(to mapping: SupabaseTableMapping) -> StorageError {
        StorageError(
            .unauthorized,
            "The row was added to “\(mapping.table)”, but its key is not known, because it may not be read. Let a policy show rows "
                + "to those who add them, and do not add it again.", isRetryable: false, isRefusal: true)
    }
    static func unknownAddition(to mapping: SupabaseTableMapping, _ cause: StorageError?) -> StorageError {
        let advice =
            mapping.witnessColumn == nil
            ? " With a unique uuid column that the mapping names as “witnessColumn”, the client finds out by itself."
            : ""
        return StorageError(
            .unavailable,
            "It is not known whether the row was added to “\(mapping.table)”, because the answer was lost. Search for it before "
                + "you add it again.\(advice)", isRetryable: false, underlying: cause?.underlying)
    }
    static func vanishedRow(of mapping: SupabaseTableMapping) -> StorageError {
        StorageError(
            .failedPrecondition,
            "The row was not added to “\(mapping.table)”, or may not be read: a trigger of the table may have prevented it.",
            isRetryable: false, isRefusal: true)
    }
    static func lockedRow(_ row: RowAddress) -> StorageError {
        StorageError(
            .unauthorized,
            "The row “\(row.path)” may be read but not changed: a policy of its table does not allow it, or a trigger prevents it.",
            isRetryable: false, isRefusal: true)
    }

    private var failure: PostgRESTFailure? { underlying as? PostgRESTFailure }

    /// Whether the request may have taken effect, or may still do so: the database goes on with a statement for a service that
    /// it can no longer answer.
    var mayStillTakeEffect: Bool {
        if let error = underlying as? TransportError { return error.mayHaveBeenSent }
        return failure.map { $0.code == nil && ($0.status >= 500 || $0.isWithoutDatabase) } ?? false
    }

    /// Whether the request may have taken effect, including one that the database ended.
    var mayHaveTakenEffect: Bool {
        mayStillTakeEffect
            || failure?.code.map { $0.hasPrefix("08") || ["57P01", "57P02", "57P03"].contains($0) } ?? false
    }

    var isAboutRights: Bool { failure?.code == "42501" }
    var isAboutUniqueness: Bool { failure?.code == "23505" }

    /// Whether the row's own key is taken, and not some other unique value.
    func isAboutKey(of shape: RowShape) -> Bool {
        guard isAboutUniqueness else { return false }
        return takenColumns?.isSubset(of: Set(shape.table.parentColumns + [shape.mapping.idColumn])) ?? true
    }

    /// Whether the client's own value in a column is taken.
    func isAboutWitness(_ column: String) -> Bool { isAboutUniqueness && takenColumns == [column] }

    /// The columns of the values that are taken, as the database says.
    private var takenColumns: Set<String>? {
        guard let details = failure?.details, let start = details.firstIndex(of: "("),
            let end = details.firstIndex(of: ")")
        else { return nil }
        return Set(
            details[details.index(after: start)..<end].split(separator: ",").map {
                $0.drop { $0 == " " }.filter { $0 != "\"" }
            })
    }

    /// A set-up mistake is not a refusal: queued writes wait until it is corrected.
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

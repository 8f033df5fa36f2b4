import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// The project's tables, views and functions as its data service exposes them, under their own grants and policies. Nothing
/// needs to be installed for it.
///
/// ```swift
/// let tables = backend.storage.unwrapped(as: SupabaseTables.self)
/// let open: [Todo]? = try await tables?.from("todos").select("*, lists(name)").eq("done", false).order("due").rows()
/// ```
/// Requests act for the signed-in user. There is no cache and no queue: a request succeeds or fails. Reads are
/// repeated for some seconds while the database is unavailable. It works until the client it came from is shut down.
public final class SupabaseTables: Sendable {
    private let service: PostgRESTService

    init(_ service: PostgRESTService) { self.service = service.patient }

    /// A table or a view.
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - schema: Its schema, if it is not the first one that the project exposes.
    public func from(_ table: String, schema: String? = nil) -> SupabaseTable {
        SupabaseTable(service: service, name: table, schema: schema)
    }

    /// A function of the database, whose answer can be filtered and ordered if it returns rows.
    ///
    /// - Parameters:
    ///   - function: Its name.
    ///   - arguments: A value that encodes to a JSON object with the arguments.
    ///   - schema: Its schema, if it is not the first one that the project exposes.
    ///   - isReadOnly: Calls a function that changes nothing, and may be repeated.
    public func rpc(
        _ function: String, _ arguments: some Encodable & Sendable = [String: String](), schema: String? = nil,
        isReadOnly: Bool = false
    ) -> SupabaseRequest {
        SupabaseRequest(
            service, .post, "rpc/\(PercentCoding.encode(function))", schema: schema, body: arguments,
            isIdempotent: isReadOnly)
    }
}

/// A table or view to send requests to.
public struct SupabaseTable: Sendable {
    let service: PostgRESTService
    let name: String
    let schema: String?

    private var path: String { PercentCoding.encode(name) }

    /// Reads rows.
    ///
    /// - Parameter columns: In the data service's syntax: columns, casts (`price::text`), fields of JSON (`data->>a`), and related
    ///   rows by their foreign key (`*, lists(name)`).
    public func select(_ columns: String = "*") -> SupabaseRequest {
        var request = SupabaseRequest(service, .get, path, schema: schema, isIdempotent: true)
        request.add("select", columns)
        return request
    }

    /// Inserts a row, or several if `values` encodes to an array. All rows are inserted, or none.
    ///
    /// A missing member gets the column's default.
    ///
    /// - Parameters:
    ///   - values: A row, or an array of rows.
    ///   - columns: The columns of the new rows to return; `nil` for none.
    public func insert(_ values: some Encodable & Sendable, returning columns: String? = nil) -> SupabaseRequest {
        var request = SupabaseRequest(service, .post, path, schema: schema, body: values)
        request.returning(columns)
        request.nameColumns()
        return request
    }

    /// Inserts rows, or updates existing ones.
    ///
    /// - Parameters:
    ///   - values: A row, or an array of rows.
    ///   - conflict: The columns of a unique constraint, separated by commas; `nil` for the primary key.
    ///   - ignoresDuplicates: Whether to leave existing rows unchanged.
    ///   - columns: The columns of the rows to return; `nil` for none.
    public func upsert(
        _ values: some Encodable & Sendable, onConflict conflict: String? = nil, ignoresDuplicates: Bool = false,
        returning columns: String? = nil
    ) -> SupabaseRequest {
        var request = SupabaseRequest(service, .post, path, schema: schema, body: values, isIdempotent: true)
        request.returning(columns)
        if let conflict { request.add("on_conflict", conflict) }
        request.prefer("resolution=\(ignoresDuplicates ? "ignore" : "merge")-duplicates")
        request.nameColumns()
        return request
    }

    /// Updates the rows that the filters select. Refused without a filter.
    ///
    /// - Parameters:
    ///   - values: The columns to change, with their new values.
    ///   - columns: The columns of the changed rows to return; `nil` for none.
    public func update(_ values: some Encodable & Sendable, returning columns: String? = nil) -> SupabaseRequest {
        var request = SupabaseRequest(service, .patch, path, schema: schema, body: values)
        request.returning(columns)
        request.needsFilter = true
        return request
    }

    /// Deletes the rows that the filters select. Refused without a filter.
    ///
    /// - Parameter columns: The columns of the deleted rows to return; `nil` for none.
    public func delete(returning columns: String? = nil) -> SupabaseRequest {
        var request = SupabaseRequest(service, .delete, path, schema: schema)
        request.returning(columns)
        request.needsFilter = true
        return request
    }
}

/// The SQL that makes a database hold documents.
package enum DocumentSchema {
    /// The form of the functions that this client calls; the database answers by `switchyard_schema()` which one it has.
    package static let version = 1

    /// To be run as the role that owns the schema; running it again changes nothing.
    package static var sql: String {
        [
            PackageResources.values_sql, PackageResources.tables_sql, PackageResources.queries_sql,
            PackageResources.writing_sql, PackageResources.reading_sql, PackageResources.changes_sql,
            PackageResources.grants_sql,
        ].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}

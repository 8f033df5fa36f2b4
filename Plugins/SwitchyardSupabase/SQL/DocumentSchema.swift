/// The SQL that makes a database hold documents.
package enum DocumentSchema {
    /// To be run as the role that owns the schema; running it again changes nothing.
    package static var sql: String { String(decoding: PackageResources.documents_sql, as: UTF8.self) }
}

/// A part of what ``DocumentSchema`` installs in a database. Each can be installed and removed by itself.
package enum SchemaPart: String, Sendable, CaseIterable {
    /// Documents, and commits of documents and rows of the project's own tables.
    case documents
    /// Live messages, and installations of apps for push messages.
    case messages
    /// The rule `domain`, for the clients of users, contacts, check-ins and notifications.
    case domain
    /// Rows of the project's own tables as documents, for clients that do not ask for the tables themselves.
    case rows

    /// The part that this one depends on.
    var base: SchemaPart? {
        switch self {
        case .documents, .messages: nil
        case .domain, .rows: .documents
        }
    }

    /// The files with its SQL, in their order.
    var files: [SchemaFile] {
        switch self {
        case .documents: [.values, .tables, .queries, .visible, .writing, .reading, .changes, .commits]
        case .messages: [.messaging]
        case .domain: [.domain]
        case .rows: [.rows]
        }
    }
}

extension Set<SchemaPart> {
    /// Whether an installation without given parts includes ``SchemaPart/rows``. If not, an update of documents still upgrades
    /// existing ones.
    package static let includesRows = false

    /// The parts that an installation without given parts includes.
    package static let usual: Self = includesRows ? [.documents, .messages, .rows] : [.documents, .messages]

    /// These parts, and those that they depend on.
    package var withBases: Self { union(compactMap(\.base)) }

    /// These parts, and those that depend on them.
    package var withDependents: Self { union(SchemaPart.allCases.filter { $0.base.map(contains) == true }) }

    /// In the order in which they are installed.
    package var sorted: [SchemaPart] { SchemaPart.allCases.filter(contains) }
}

/// A file with SQL.
enum SchemaFile: String, CaseIterable {
    case common, values, tables, queries, visible, writing, reading, changes, commits, domain, rows, messaging, check

    var sql: String {
        let bytes =
            switch self {
            case .common: PackageResources.common_sql
            case .values: PackageResources.values_sql
            case .tables: PackageResources.tables_sql
            case .queries: PackageResources.queries_sql
            case .visible: PackageResources.visible_sql
            case .writing: PackageResources.writing_sql
            case .reading: PackageResources.reading_sql
            case .changes: PackageResources.changes_sql
            case .commits: PackageResources.commits_sql
            case .domain: PackageResources.domain_sql
            case .rows: PackageResources.rows_sql
            case .messaging: PackageResources.messaging_sql
            case .check: PackageResources.check_sql
            }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A connection's names for kept statements, and which of them the server has parsed.
struct PostgresStatementNames: Sendable {
    private var names: [String: String] = [:]
    private var ready: Set<String> = []
    private let limit: Int

    /// For a connection that keeps no statements.
    static let none = PostgresStatementNames(limit: 0)

    /// - Parameter limit: The maximum number of kept statements; others are parsed each time.
    init(limit: Int = 200) { self.limit = limit }

    func name(of statement: PostgresStatement) -> String? { statement.isKept ? names[statement.sql] : nil }

    func isReady(_ statement: PostgresStatement) -> Bool { statement.isKept && ready.contains(statement.sql) }

    /// Names the statements to keep that have no name yet.
    mutating func prepare(_ statements: [PostgresStatement]) {
        for statement in statements where statement.isKept && names[statement.sql] == nil && names.count < limit {
            names[statement.sql] = "kept\(names.count)"
        }
    }

    /// The unit with these statements has succeeded, so the server knows them.
    mutating func parsed(_ statements: [PostgresStatement]) {
        for statement in statements where name(of: statement) != nil { ready.insert(statement.sql) }
    }
}

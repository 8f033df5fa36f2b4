/// What a connection calls the statements that it keeps, and which of them the server has parsed.
struct PostgresStatementNames: Sendable {
    private var names: [String: String] = [:]
    private var ready: Set<String> = []
    private let limit: Int

    /// For a connection that keeps none.
    static let none = PostgresStatementNames(limit: 0)

    /// - Parameter limit: How many are kept; others are parsed each time they come.
    init(limit: Int = 200) { self.limit = limit }

    func name(of statement: PostgresStatement) -> String? { statement.isKept ? names[statement.sql] : nil }

    func isReady(_ statement: PostgresStatement) -> Bool { statement.isKept && ready.contains(statement.sql) }

    /// Gives names to those that are to be kept and have none yet.
    mutating func prepare(_ statements: [PostgresStatement]) {
        for statement in statements where statement.isKept && names[statement.sql] == nil && names.count < limit {
            names[statement.sql] = "kept\(names.count)"
        }
    }

    /// The unit with these has ended well, so the server knows them.
    mutating func parsed(_ statements: [PostgresStatement]) {
        for statement in statements where name(of: statement) != nil { ready.insert(statement.sql) }
    }
}

import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit

/// Tries conditions of policies on a row, with a caller's role and claims, in a transaction that changes nothing.
struct PolicyTrial: Sendable {
    /// A row as it is, or as it is going to be.
    enum Row: Sendable {
        /// Rows of the table for which a condition holds.
        case existing(SQLText)
        /// A new row with these columns, and defaults elsewhere.
        case new(JSONObject)
        /// An existing one with other values.
        case changed(SQLText, JSONObject)
        /// No row is known.
        case none
    }

    /// Part of a statement, with its parameters as `$1` and so on.
    struct SQLText: Sendable {
        let sql: String
        let parameters: [String?]
    }

    enum Value: Sendable, Equatable {
        case value(String?)
        case failure(String)

        var isTrue: Bool { self == .value("t") || self == .value("true") }

        var shown: String {
            switch self {
            case .value("t"?): "true"
            case .value("f"?): "false"
            case .value(let text): text.map { $0.count > 120 ? $0.prefix(119) + "…" : $0 } ?? "null"
            case .failure(let message): "error: \(message)"
            }
        }
    }

    let database: SupabaseDatabase
    let token: SupabaseToken
    let schema: String
    let table: String

    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    private var name: String { Self.quoted(schema) + "." + Self.quoted(table) }

    /// The row as JSON; `nil` if there is none.
    func row(_ row: Row) async -> JSON? {
        guard case .none = row else {
            let found = await run(row, ["to_jsonb(\(Self.quoted(table)))::text"], asOwner: true)
            guard case .value(let text?)? = found?.first else { return nil }
            return try? JSON(parsing: text)
        }
        return nil
    }

    /// The values of expressions on the row, as text. `nil` if there is no row.
    func values(of expressions: [String], on row: Row) async -> [Value]? {
        guard !expressions.isEmpty else { return [] }
        let together = await run(row, expressions.map { "(\($0))::text" })
        guard case .failure? = together?.first else { return together }
        // One that fails must not hide the others.
        var values: [Value] = []
        for expression in expressions {
            guard let one = await run(row, ["(\(expression))::text"])?.first else { return nil }
            values.append(one)
        }
        return values
    }

    private func run(_ row: Row, _ columns: [String], asOwner: Bool = false) async -> [Value]? {
        let temporary = "pg_temp.page_row"
        var statements = [
            PostgresStatement("select set_config('request.jwt.claims', $1, true)", [JSON.object(token.claims).text()])
        ]
        switch row {
        case .existing(let filter):
            statements.append(
                PostgresStatement(
                    "create temp table page_row on commit drop as select * from \(name) where \(filter.sql) limit 1",
                    filter.parameters))
        case .new(let members):
            statements.append(
                PostgresStatement(
                    "create temp table page_row (like \(name) including defaults) on commit drop"))
            statements.append(PostgresStatement(Self.loosening))
            statements.append(insertion(members))
        case .changed(let filter, let members):
            statements.append(
                PostgresStatement(
                    "create temp table page_row on commit drop as select * from \(name) where \(filter.sql) limit 1",
                    filter.parameters))
            if !members.members.isEmpty {
                statements.append(
                    PostgresStatement(
                        "update \(temporary) set "
                            + members.keys.map { column in
                                let column = Self.quoted(column)
                                return "\(column) = (jsonb_populate_record(null::\(name), $1::jsonb)).\(column)"
                            }.joined(separator: ", "), [JSON.object(members).text()]))
            }
        case .none: break
        }
        if case .none = row {
        } else {
            statements.append(PostgresStatement("grant select on \(temporary) to \(Self.quoted(token.role))"))
        }
        if !asOwner { statements.append(PostgresStatement("select set_config('role', $1, true)", [token.role])) }
        let source = if case .none = row { "" } else { " from \(temporary) as \(Self.quoted(table))" }
        statements.append(PostgresStatement("select " + columns.joined(separator: ", ") + source))
        // Whatever a policy's functions do is taken back.
        statements.append(PostgresStatement("rollback"))
        do throws(PostgresFailure) {
            let results = try await database.run(statements)
            guard let first = results.dropLast().last?.rows.first else { return nil }
            return first.map { .value($0.map { String(decoding: $0, as: UTF8.self) }) }
        } catch {
            return columns.map { _ in .failure(error.message) }
        }
    }

    /// A proposed row may lack what the insertion would refuse, and takes no number of a sequence.
    private static let loosening = """
        do $page$
        declare
          each_ record;
        begin
          for each_ in select a.attname, a.attnotnull, pg_get_expr(d.adbin, d.adrelid) like '%nextval(%' as counts
              from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
              where a.attrelid = 'pg_temp.page_row'::regclass and a.attnum > 0 and not a.attisdropped loop
            if each_.attnotnull then
              execute format('alter table pg_temp.page_row alter column %I drop not null', each_.attname);
            end if;
            if each_.counts then
              execute format('alter table pg_temp.page_row alter column %I drop default', each_.attname);
            end if;
          end loop;
        end $page$
        """

    private func insertion(_ members: JSONObject) -> PostgresStatement {
        guard !members.members.isEmpty else { return PostgresStatement("insert into pg_temp.page_row default values") }
        let columns = members.keys.map(Self.quoted).joined(separator: ", ")
        return PostgresStatement(
            "insert into pg_temp.page_row (\(columns)) select \(columns) "
                + "from jsonb_populate_record(null::\(name), $1::jsonb)", [JSON.object(members).text()])
    }
}

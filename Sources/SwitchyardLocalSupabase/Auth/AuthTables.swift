import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// The tables of the auth service within one transaction. Rows are JSON objects with the columns' names.
///
/// Names of tables and columns come from the service's code, never from a request; values are always parameters.
struct AuthTables: Sendable {
    let connection: PostgresConnection
    let now: Timestamp

    /// Whole seconds, as tokens count.
    var seconds: Int64 { now.seconds }

    /// For the second of two rows made by one call, to keep their order.
    var oneMomentLater: AuthTables {
        AuthTables(connection: connection, now: Timestamp(microseconds: now.microseconds + 1))
    }

    /// The current time in column format.
    var time: JSON { AuthTables.text(now) }

    static func text(_ time: Timestamp) -> JSON {
        .string(RFC3339.format(RFC3339.Moment(seconds: time.seconds, nanoseconds: time.nanoseconds)))
    }

    /// The value of a time column, in seconds.
    static func seconds(_ value: JSON?) -> Int64? { value?.string.flatMap { RFC3339.parse($0) }?.seconds }

    func run(_ sql: String, _ parameters: [String?] = []) async throws(AuthRefusal) -> PostgresResult {
        do throws(PostgresFailure) {
            return try await connection.run([PostgresStatement(sql, parameters)])[0]
        } catch {
            throw AuthRefusal(error)
        }
    }

    /// The rows whose columns have these values.
    func all(
        _ table: String, where values: JSONObject = [:]
    ) async throws(AuthRefusal) -> [JSONObject] {
        let result = try await run(
            """
            select to_jsonb(t) from auth.\(table) t, \(Self.given(table)) where \(Self.same(values))
            order by t.created_at, t.id
            """, [JSON.object(values).text()])
        return result.rows.compactMap { $0.first.flatMap { $0 } }.compactMap { (try? JSON(parsing: $0))?.object }
    }

    func first(_ table: String, where values: JSONObject) async throws(AuthRefusal) -> JSONObject? {
        try await all(table, where: values).first
    }

    @discardableResult
    func insert(_ table: String, _ values: JSONObject) async throws(AuthRefusal) -> JSONObject {
        let columns = values.map { "\"\($0.key)\"" }.joined(separator: ", ")
        let result = try await run(
            """
            insert into auth.\(table) as t (\(columns)) select \(columns) from \(Self.given(table)) returning to_jsonb(t)
            """, [JSON.object(values).text()])
        return result.text.flatMap { try? JSON(parsing: $0) }?.object ?? [:]
    }

    /// Sets columns of the row with this `id`.
    func update(_ table: String, _ id: String, _ values: JSONObject) async throws(AuthRefusal) {
        guard !values.isEmpty else { return }
        let changes = values.map { "\"\($0.key)\" = g.\"\($0.key)\"" }.joined(separator: ", ")
        _ = try await run(
            "update auth.\(table) t set \(changes) from \(Self.given(table)) where t.id::text = $2",
            [JSON.object(values).text(), id])
    }

    func delete(_ table: String, where values: JSONObject) async throws(AuthRefusal) {
        _ = try await run(
            "delete from auth.\(table) t using \(Self.given(table)) where \(Self.same(values))",
            [JSON.object(values).text()])
    }

    /// The values in `$1` as a row `g`, with the types that the table's columns have.
    private static func given(_ table: String) -> String { "jsonb_populate_record(null::auth.\(table), $1::jsonb) g" }

    private static func same(_ values: JSONObject) -> String {
        values.isEmpty ? "true" : values.map { "t.\"\($0.key)\" = g.\"\($0.key)\"" }.joined(separator: " and ")
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport

/// A caller of the functions, presented to the database as the data service presents them: by their role and claims.
struct SQLCaller: Sendable {
    let connection: PostgresConnection

    /// - Parameter user: `nil` for a caller who is not signed in.
    init(_ user: String?, on server: PostgresServer) async throws {
        connection = try await server.connect()
        let claims = user.map { #"{"sub": "\#($0)", "role": "authenticated"}"# } ?? #"{"role": "anon"}"#
        try await connection.run(
            script: """
                select set_config('request.jwt.claims', '\(claims)', false);
                set role \(user == nil ? "anon" : "authenticated");
                """)
    }

    /// The first column of the first row.
    func text(_ sql: String, _ parameters: String...) async throws -> String? {
        let result = try await connection.run([PostgresStatement(sql, parameters)]).last
        guard let bytes = result?.rows.first?.first ?? nil else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What a function answers to JSON.
    func call(_ function: String, _ arguments: JSON...) async throws -> JSON {
        let places = arguments.indices.map { "$\($0 + 1)::jsonb" }.joined(separator: ", ")
        let statement = PostgresStatement(
            "select to_jsonb(public.\(function)(\(places)))", arguments.map { $0.text() })
        let result = try await connection.run([statement]).last
        return try JSON(parsing: (result?.rows.first?.first ?? nil) ?? [])
    }

    /// Commits writes, as JSON, under a name of their own.
    func commit(_ writes: String) async throws {
        _ = try await text(
            "select public.switchyard_commit(gen_random_uuid()::text, ('[' || $1 || ']')::jsonb)", writes)
    }

    /// The code of the failure; `nil` if there is none.
    func failure(_ sql: String, _ parameters: String...) async -> String? {
        do {
            _ = try await connection.run([PostgresStatement(sql, parameters)])
            return nil
        } catch {
            return error.code
        }
    }

    func close() { connection.close() }
}

import Foundation
package import SwitchyardLocalSupabase
package import SwitchyardServerKit

/// A database of a test's own on a real PostgreSQL, and the vendor's own client to ask it.
package final class PostgresServer: Sendable {
    package var port: Int { Int(server.port) }
    /// The database's name.
    package let name: String
    private let server: LocalPostgres
    private let isShared: Bool

    /// The server on which tests have their databases; it ends with the process.
    private static let shared = Task {
        let server = try await LocalPostgres()
        let connection = try await PostgresConnection(port: server.port, user: LocalPostgres.user, database: "postgres")
        defer { connection.close() }
        // No one keeps these hundreds of databases, and cleaning up each in turn would take a tenth of the machine.
        _ = try await connection.run([
            PostgresStatement("alter system set autovacuum = off"),
            PostgresStatement("alter system set full_page_writes = off"), PostgresStatement("select pg_reload_conf()"),
        ])
        return server
    }

    /// Whether tests that need it can run; otherwise they are to be reported as skipped.
    package static var isInstalled: Bool { PostgresPrograms.installed?.has("psql") == true }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// A new database on the server that the tests of a run share: it is there at once.
    package init() async throws {
        server = try await PostgresServer.shared.value
        isShared = true
        name = "test_\(UInt64.random(in: 0..<UInt64.max))"
        try await onServer("create database \(name)")
    }

    /// A server of the test's own: for what concerns all of it.
    ///
    /// - Parameter locale: How the database sorts text when none is given; without one, by bytes.
    package init(aloneWith locale: String?) async throws {
        server = try await LocalPostgres(locale: locale)
        isShared = false
        name = "postgres"
    }

    /// The database, for a local Supabase to stand on.
    package var place: LocalSupabaseOptions.Database {
        .given(port: server.port, user: LocalPostgres.user, name: name)
    }

    package func connect() async throws -> PostgresConnection {
        try await PostgresConnection(port: server.port, user: LocalPostgres.user, database: name)
    }

    private func onServer(_ statement: String) async throws {
        let connection = try await PostgresConnection(
            port: server.port, user: LocalPostgres.user, database: "postgres")
        defer { connection.close() }
        _ = try await connection.run([PostgresStatement(statement)])
    }

    /// Runs SQL and returns what it prints: columns by tabs, rows by line feeds.
    ///
    /// - Parameter variables: Values that the SQL names as `:'name'`; they are quoted on the way.
    /// - Throws: `Failure` with the server's own words.
    @discardableResult
    package func query(_ sql: String, _ variables: [String: String] = [:]) async throws -> String {
        try await PostgresServer.query(sql, variables, port: port, name: name)
    }

    /// The same for a PostgreSQL on this machine that somebody else has started.
    @discardableResult
    package static func query(
        _ sql: String, _ variables: [String: String] = [:], port: Int, name: String = "postgres"
    ) async throws -> String {
        guard let programs = PostgresPrograms.installed else { throw LocalPostgresError.notInstalled }
        var command = [
            programs.path("psql"), "-h", "127.0.0.1", "-p", "\(port)", "-U", LocalPostgres.user, "-d", name, "-X", "-q",
            "-A", "-t",
            "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose",
        ]
        for (name, value) in variables { command += ["-v", "\(name)=\(value)"] }
        return try await run(command + ["-f", "-"], input: sql)
    }

    /// Ends a server of the test's own. A database on the shared one goes with that.
    package func stop() { if !isShared { server.kill() } }

    private static func run(_ command: [String], input: String) async throws -> String {
        #if os(Linux) || os(macOS)
            let psql = try await TestProgram.finished(command, input: input)
            guard psql.status == 0 else { throw Failure(description: psql.errors) }
            return psql.text.trimmingCharacters(in: .newlines)
        #else
            throw Failure(description: "Programs cannot be started on this system.")
        #endif
    }
}

extension LocalSupabase {
    /// On a new database of the PostgreSQL that the tests of a run share: it starts at once.
    package static func onSharedPostgres(
        _ options: LocalSupabaseOptions = LocalSupabaseOptions()
    ) async throws -> LocalSupabase {
        var options = options
        options.database = try await PostgresServer().place
        return try await LocalSupabase(options)
    }
}

import Foundation
package import SwitchyardEmulator

/// A real PostgreSQL of a test's own, and the vendor's own client to ask it.
package final class PostgresServer: Sendable {
    package var port: Int { Int(database.port) }
    package let database: LocalPostgres

    /// Whether tests that need it can run; otherwise they are to be reported as skipped.
    package static var isInstalled: Bool { PostgresPrograms.installed?.has("psql") == true }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter locale: How the database sorts text when it is not told; without one, by bytes.
    package init(locale: String? = nil) async throws { database = try await LocalPostgres(locale: locale) }

    /// Runs SQL and returns what it prints: columns by tabs, rows by line feeds.
    ///
    /// - Parameter variables: Values that the SQL names as `:'name'`; they are quoted on the way.
    /// - Throws: `Failure` with the server's own words.
    @discardableResult
    package func query(_ sql: String, _ variables: [String: String] = [:]) async throws -> String {
        try await PostgresServer.query(sql, variables, port: port)
    }

    /// The same for a PostgreSQL on this machine that somebody else has started.
    @discardableResult
    package static func query(
        _ sql: String, _ variables: [String: String] = [:], port: Int
    ) async throws -> String {
        guard let programs = PostgresPrograms.installed else { throw LocalPostgresError.notInstalled }
        var command = [
            programs.path("psql"), "-h", "127.0.0.1", "-p", "\(port)", "-U", LocalPostgres.user, "-X", "-q", "-A", "-t",
            "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose",
        ]
        for (name, value) in variables { command += ["-v", "\(name)=\(value)"] }
        return try await run(command + ["-f", "-"], input: sql)
    }

    package func stop() { database.kill() }

    private static func run(_ command: [String], input: String) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        for pipe in [stdin, stdout, stderr] {
            _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        let errors = Task.detached { stderr.fileHandleForReading.readDataToEndOfFile() }
        stdin.fileHandleForWriting.write(Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = await Task.detached { stdout.fileHandleForReading.readDataToEndOfFile() }.value
        let complaint = String(decoding: await errors.value, as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: complaint) }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

import Foundation

/// A real PostgreSQL of a test's own: in a folder of its own, on a free port of the loopback interface, gone with the test.
package final class PostgresServer: Sendable {
    package let port: Int
    private let folder: URL
    private let server: ServerProcess

    /// Where the programs are: the newest version that is installed.
    private static let programs: URL? = {
        let root = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return versions.compactMap { version in Int(version).map { ($0, version) } }.sorted { $0.0 < $1.0 }
            .map { root.appendingPathComponent($0.1).appendingPathComponent("bin") }
            .last { FileManager.default.isExecutableFile(atPath: $0.appendingPathComponent("initdb").path) }
    }()

    /// Whether tests that need it can run; otherwise they are to be reported as skipped.
    package static var isInstalled: Bool { programs != nil }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter locale: How the database sorts text when it is not told; without one, by bytes.
    package init(locale: String? = nil) async throws {
        guard let programs = PostgresServer.programs else {
            throw Failure(description: "PostgreSQL is not installed; see the README.")
        }
        port = try freePort()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("postgres-\(port)-\(getpid())")
        let data = folder.appendingPathComponent("data").path
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let asUser = PostgresServer.asUnprivilegedUser
        if !asUser.isEmpty { try await PostgresServer.run(["chown", "postgres", folder.path]) }
        try await PostgresServer.run(
            asUser + [
                programs.appendingPathComponent("initdb").path, "-D", data, "-U", "postgres", "-A", "trust", "-N", "-E",
                "UTF8", "--locale=C.UTF-8",
            ] + (locale.map { ["--locale-provider=icu", "--icu-locale=\($0)"] } ?? []))
        server = try ServerProcess(
            asUser + [
                programs.appendingPathComponent("postgres").path, "-D", data, "-p", "\(port)", "-c",
                "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=\(folder.path)", "-c", "fsync=off",
            ], logFile: folder.appendingPathComponent("log").path)
        do {
            try await eventually("PostgreSQL answers", within: .seconds(60)) { (try? await query("select 1")) == "1" }
        } catch {
            throw Failure(description: "\(error)\n\(server.logTail)")
        }
    }

    /// The server refuses to run as root. Replaces itself by the program, so that ending the one ends the other.
    private static var asUnprivilegedUser: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : []
    }

    /// Runs SQL and returns what it prints: columns by tabs, rows by line feeds.
    ///
    /// - Parameter variables: Values that the SQL names as `:'name'`; they are quoted on the way.
    /// - Throws: `Failure` with the server's own words.
    @discardableResult
    package func query(_ sql: String, _ variables: [String: String] = [:]) async throws -> String {
        let programs = PostgresServer.programs!
        var command = [
            programs.appendingPathComponent("psql").path, "-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres", "-X",
            "-q",
            "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose",
        ]
        for (name, value) in variables { command += ["-v", "\(name)=\(value)"] }
        return try await PostgresServer.run(command + ["-f", "-"], input: sql)
    }

    package func stop() {
        server.kill()
        try? FileManager.default.removeItem(at: folder)
    }

    @discardableResult
    private static func run(_ command: [String], input: String = "") async throws -> String {
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

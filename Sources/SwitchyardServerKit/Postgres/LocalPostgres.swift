package import Foundation
import Synchronization

/// A PostgreSQL for this process: on a free loopback port, without a password, stopped with the process.
package final class LocalPostgres: Sendable {
    package let port: UInt16
    private let programs: PostgresPrograms
    /// Contains the log, and the database in its own folder.
    private let folder: URL
    private let isKept: Bool
    private let server: Mutex<ServerProcess>

    /// The user that it accepts, with all rights.
    package static let user = "postgres"

    /// - Parameters:
    ///   - folder: The folder for the database, which then outlives the process. Without one, the database is deleted at the
    ///     end.
    ///   - locale: The default collation; without one, text is sorted by bytes.
    package init(folder: URL? = nil, locale: String? = nil) async throws(LocalPostgresError) {
        let programs = try PostgresPrograms.find(in: ProcessInfo.processInfo.environment)
        self.programs = programs
        isKept = folder != nil
        self.folder = folder ?? ProcessFolder.place("switchyard-postgres")
        let data = LocalPostgres.data(in: self.folder)
        let port: UInt16
        let server: ServerProcess
        do {
            try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
            let log = LocalPostgres.log(in: self.folder)
            if !PostgresPrograms.asUnprivilegedUser.isEmpty {
                try await LocalPostgres.run(["chown", LocalPostgres.user, self.folder.path], log)
            }
            if !FileManager.default.fileExists(atPath: data + "/PG_VERSION") {
                try await LocalPostgres.run(
                    PostgresPrograms.asUnprivilegedUser + [
                        programs.path("initdb"), "-D", data, "-U", LocalPostgres.user, "-A", "trust", "-N", "-E",
                        "UTF8", "--locale=C.UTF-8",
                    ] + (locale.map { ["--locale-provider=icu", "--icu-locale=\($0)"] } ?? []), log)
            }
            port = try LocalPostgres.port(savedIn: folder == nil ? nil : self.folder)
            server = try LocalPostgres.start(programs, in: self.folder, port: port, isKept: isKept)
        } catch let error as LocalPostgresError {
            throw error
        } catch {
            throw .cannotStart("\(error)")
        }
        self.port = port
        self.server = Mutex(server)
        try await waitUntilReady()
    }

    /// Stops it cleanly; data in a folder stays.
    package func stop() async {
        await end()
        if !isKept { try? FileManager.default.removeItem(at: folder) }
    }

    /// Kills it at once; unwritten data is recovered from its log, if at all.
    package func kill() {
        server.withLock { $0.kill() }
        if !isKept { try? FileManager.default.removeItem(at: folder) }
    }

    /// Ends it, connections and all, and starts it again at the same address.
    package func restart() async throws(LocalPostgresError) {
        await end()
        do {
            let new = try LocalPostgres.start(programs, in: folder, port: port, isKept: isKept)
            server.withLock { $0 = new }
        } catch {
            throw .cannotStart("\(error)")
        }
        try await waitUntilReady()
    }

    // MARK: The process

    private static func start(
        _ programs: PostgresPrograms, in folder: URL, port: UInt16, isKept: Bool
    ) throws -> ServerProcess {
        try ServerProcess(
            PostgresPrograms.asUnprivilegedUser + [
                programs.path("postgres"), "-D", data(in: folder), "-p", "\(port)",
                "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
                // A temporary database need not survive a power failure.
                "-c", "fsync=\(isKept ? "on" : "off")", "-c", "wal_level=logical", "-c", "max_connections=200",
                // QUIT drops connections and work in progress. A kill would also leave shared memory behind, of which the
                // system allows only so many segments.
            ], endingBy: "QUIT", leftovers: isKept ? nil : folder.path, logFile: log(in: folder))
    }

    /// Asks it to stop, and kills it if that takes too long.
    private func end() async {
        let file = LocalPostgres.data(in: folder) + "/postmaster.pid"
        if let text = try? String(contentsOfFile: file, encoding: .utf8),
            let process = text.split(separator: "\n").first.flatMap({ Int32($0) })
        {
            _ = Foundation.kill(process, SIGINT)
            let deadline = ContinuousClock.now + .seconds(20)
            // Only the removal of this file shows that it has stopped.
            while FileManager.default.fileExists(atPath: file), ContinuousClock.now < deadline {
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        server.withLock { $0.kill() }
    }

    private func waitUntilReady() async throws(LocalPostgresError) {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do throws(PostgresFailure) {
                let connection = try await PostgresConnection(
                    port: port, user: LocalPostgres.user, database: "postgres")
                connection.close()
                return
            } catch {
                let hasEnded = server.withLock { $0.hasEnded }
                guard !hasEnded, ContinuousClock.now < deadline, !Task.isCancelled else {
                    let log = server.withLock { $0.logTail }
                    kill()
                    throw .cannotStart(
                        (hasEnded ? "it has ended" : "it does not answer (\(error.message))") + "\n\(log)")
                }
            }
            // It does not report when it listens, so poll until it answers.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private static func run(_ command: [String], _ log: String) async throws {
        guard try await ProcessRun.status(of: command, logFile: log) == 0 else {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw LocalPostgresError.cannotStart("“\(command.last ?? "")” failed\n\(text.suffix(2000))")
        }
    }

    // MARK: Files

    private static func data(in folder: URL) -> String { folder.appendingPathComponent("data").path }
    private static func log(in folder: URL) -> String { folder.appendingPathComponent("postgres.log").path }

    /// The port of the last time if it is free, so that scripts and clients find the database again; otherwise another one, which
    /// is kept.
    private static func port(savedIn folder: URL?) throws -> UInt16 {
        guard let file = folder?.appendingPathComponent("port").path else { return try freePort() }
        let kept = (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { UInt16($0) } ?? 0
        if kept != 0, let port = try? freePort(kept) { return port }
        let port = try freePort()
        try "\(port)".write(toFile: file, atomically: true, encoding: .utf8)
        return port
    }

    /// - Parameter wanted: 0 for any.
    /// - Throws: If that very port is taken.
    private static func freePort(_ wanted: UInt16 = 0) throws(ServerError) -> UInt16 {
        let listener = try Socket.listen(on: .ipv4, port: wanted, backlog: 1)
        defer { Socket.close(listener) }
        return Socket.port(of: listener)
    }
}

/// Why no PostgreSQL is available.
package enum LocalPostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    case notInstalled
    /// The folder that a variable names lacks the programs.
    case wrongFolder(String)
    /// With the server's own message.
    case cannotStart(String)

    package var description: String {
        switch self {
        case .notInstalled:
            "PostgreSQL is not installed. On Debian and Ubuntu it is in the package “postgresql”; another server of that "
                + "kind can be given instead."
        case .wrongFolder(let folder):
            "SWITCHYARD_POSTGRES_BIN is “\(folder)”, where PostgreSQL's programs “initdb” and “postgres” are not. Set it to the "
                + "folder that has them, such as /usr/lib/postgresql/17/bin, or unset it."
        case .cannotStart(let reason): "PostgreSQL cannot start: \(reason)"
        }
    }
}

/// The programs of the installed PostgreSQL.
package struct PostgresPrograms: Sendable {
    private let folder: URL

    /// The programs in the folder `SWITCHYARD_POSTGRES_BIN`; without it, the newest version in Debian's folders, or else on the
    /// `PATH`. `nil` if there are none.
    package static let installed = try? find(in: ProcessInfo.processInfo.environment)

    /// - Throws: Why there are none.
    package static func find(in environment: [String: String]) throws(LocalPostgresError) -> PostgresPrograms {
        if let named = environment["SWITCHYARD_POSTGRES_BIN"] {
            let programs = PostgresPrograms(folder: URL(fileURLWithPath: named, isDirectory: true))
            guard !named.isEmpty, programs.isComplete else { throw .wrongFolder(named) }
            return programs
        }
        let root = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        let onPath = (environment["PATH"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: String($0), isDirectory: true) }
        let newest = versions.compactMap { Int($0) }.sorted(by: >).map {
            root.appendingPathComponent("\($0)/bin", isDirectory: true)
        }
        guard
            let programs = (newest + onPath).lazy.map({ PostgresPrograms(folder: $0) }).first(where: \.isComplete)
        else { throw .notInstalled }
        return programs
    }

    private var isComplete: Bool { has("initdb") && has("postgres") }

    package func has(_ program: String) -> Bool { FileManager.default.isExecutableFile(atPath: path(program)) }

    package func path(_ program: String) -> String { folder.appendingPathComponent(program).path }

    /// The prefix for commands of the server, which refuses to run as root. It replaces itself by the program, so that ending
    /// one ends the other.
    static var asUnprivilegedUser: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : []
    }
}

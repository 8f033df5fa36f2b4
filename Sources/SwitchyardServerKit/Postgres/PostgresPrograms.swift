import Foundation

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

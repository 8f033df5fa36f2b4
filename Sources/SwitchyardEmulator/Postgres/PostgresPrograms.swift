import Foundation

/// The programs of the PostgreSQL that is installed on this machine.
package struct PostgresPrograms: Sendable {
    private let folder: URL

    /// Those of the newest version; `nil` where there are none.
    package static let installed: PostgresPrograms? = {
        let root = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        let onPath = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: String($0), isDirectory: true) }
        let newest = versions.compactMap { Int($0) }.sorted(by: >).map {
            root.appendingPathComponent("\($0)/bin", isDirectory: true)
        }
        return (newest + onPath).first { folder in
            ["initdb", "postgres"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent($0).path)
            }
        }.map { PostgresPrograms(folder: $0) }
    }()

    package func path(_ program: String) -> String { folder.appendingPathComponent(program).path }

    /// What stands before a command of the server, which refuses to run as root. It replaces itself by the program, so
    /// that ending the one ends the other.
    static var asUnprivilegedUser: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : []
    }
}

import Foundation

/// A program that some tests run, and that a machine may lack: they are skipped then, and say what is missing.
package struct OutsideTool: Sendable {
    package let isInstalled: Bool
    /// What a skipped test says.
    package let absence: String

    package static let openssl = OutsideTool("openssl", package: "openssl")
    package static let python = OutsideTool("python3", package: "python3")
    package static let nghttpd = OutsideTool("nghttpd", package: "nghttp2-server")
    package static let chromium = OutsideTool("chromium", package: "chromium")
    package static let java = OutsideTool("java", package: "default-jre-headless")

    private init(_ program: String, package: String) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        isInstalled = folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
        absence = "\(program) is not installed (Debian's package \(package))"
    }
}

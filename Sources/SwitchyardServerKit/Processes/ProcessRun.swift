import Foundation

/// Runs a program until it exits.
package enum ProcessRun {
    /// - Parameter logFile: The file to which the program's output is appended.
    /// - Returns: The program's exit status.
    package static func status(of command: [String], logFile: String) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments =
                ["-c", "log=$1; shift; exec \"$@\" < /dev/null >> \"$log\" 2>&1", "run", logFile] + command
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }
}

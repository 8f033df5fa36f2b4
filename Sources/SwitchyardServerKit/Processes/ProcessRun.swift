import Foundation
import SwitchyardBytes

/// Runs a program until it exits.
package enum ProcessRun {
    /// - Parameter logFile: The file to which the program's output is appended.
    /// - Returns: The program's exit status.
    package static func status(of command: [String], logFile: String) async throws -> Int32 {
        let shell = try SpawnedShell(
            "log=$1; shift; exec \"$@\" < /dev/null >> \"$log\" 2>&1", ["run", logFile] + command,
            environment: ProcessInfo.processInfo.environment)
        return try await withCheckedThrowingContinuation { continuation in
            do throws(LoopThread.Refusal) {
                try LoopThread.start { continuation.resume(returning: shell.wait()) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}

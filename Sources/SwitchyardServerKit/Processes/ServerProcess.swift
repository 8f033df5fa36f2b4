import Foundation
import Synchronization

/// A server started by this process, which ends with the process, however that ends.
///
/// The server runs under a shell that reads from a pipe of ours: when this process goes, even by a crash, the pipe closes and
/// the shell ends the server. The shell does not wait for the server: a child may inherit a signal mask that blocks the
/// notification of the shell. A second pipe, whose other end only the server holds, shows that it has ended.
///
/// A server that leaves resources behind when killed, such as shared memory, can first be asked to end by another signal.
package final class ServerProcess: Sendable {
    private let process: Mutex<Process>
    private let input: Pipe
    private let life: Pipe
    package let logFile: String

    /// - Parameters:
    ///   - environment: In addition to this process's own.
    ///   - signal: The signal that ends it; if it is still running six seconds later, it is killed.
    ///   - logFile: The file for the server's output.
    package init(
        _ command: [String], environment: [String: String] = [:], endingBy signal: String = "KILL", logFile: String
    ) throws {
        self.logFile = logFile
        let (input, life) = (Pipe(), Pipe())
        // Otherwise the shell would inherit this end of the pipe, and keep open what it waits to see closed.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(life.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            [
                "-c",
                """
                log=$1; signal=$2; shift 2
                "$@" 9>&1 < /dev/null > "$log" 2>&1 & server=$!
                exec > /dev/null 2>&1; read -r _
                kill -s "$signal" $server; turns=120
                while [ "$signal" != KILL ] && kill -0 $server; do
                  if [ $turns -eq 0 ]; then kill -9 $server; exit; fi
                  sleep 0.05; turns=$((turns - 1))
                done
                """, "server", logFile, signal,
            ] + command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, ours in ours }
        process.standardInput = input
        process.standardOutput = life
        try process.run()
        try? life.fileHandleForWriting.close()
        self.input = input
        self.life = life
        self.process = Mutex(process)
    }

    /// Until it is killed, whether or not the server has ended by itself.
    package var isRunning: Bool { process.withLock { $0.isRunning } }

    /// Whether the server has ended, with everything that it has started.
    package var hasEnded: Bool {
        var entry = pollfd(fd: life.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
    }

    /// Ends it at once, and waits for that.
    package func kill() {
        try? input.fileHandleForWriting.close()
        process.withLock { $0.waitUntilExit() }
    }

    /// The end of its output, for error messages.
    package var logTail: String {
        let text = (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? ""
        return String(text.suffix(2000))
    }

    deinit { try? input.fileHandleForWriting.close() }
}

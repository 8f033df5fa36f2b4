import Foundation
import SwitchyardBytes
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A server started by this process, which ends with the process, however that ends.
///
/// The server runs under a shell that reads from a socket of ours. When this process goes, even by a crash, the socket closes:
/// the shell ends the server and removes what it leaves behind. `kill` sends a word first; then the shell removes nothing. A
/// pipe whose other end only the server holds shows that it has ended.
///
/// A server that leaves resources behind when killed, such as shared memory, can first be asked to end by another signal.
package final class ServerProcess: Sendable {
    private let shell: SpawnedProcess
    /// Our end of the socket, until it is closed.
    private let input: Mutex<Int32?>
    private let life: Int32
    package let logFile: String

    /// - Parameters:
    ///   - environment: In addition to this process's own.
    ///   - signal: The signal that ends it; if it is still running six seconds later, it is killed.
    ///   - leftovers: A folder that is removed once the server has ended, if this process ends without `kill`.
    ///   - logFile: The file for the server's output.
    package init(
        _ command: [String], environment: [String: String] = [:], endingBy signal: String = "KILL",
        leftovers: String? = nil, logFile: String
    ) throws {
        self.logFile = logFile
        let (input, life) = (try PipeEnds(writable: true), try PipeEnds())
        defer {
            Socket.close(input.reader)
            Socket.close(life.writer)
        }
        do throws(SpawnedProcess.Refusal) {
            shell = try SpawnedProcess(
                script: """
                    log=$1; signal=$2; leftovers=$3; shift 3
                    "$@" 9>&1 < /dev/null > "$log" 2>&1 & server=$!
                    exec > /dev/null 2>&1; read -r word
                    kill -s "$signal" $server; turns=120
                    while [ "$signal" != KILL ] && kill -0 $server; do
                      if [ $turns -eq 0 ]; then kill -9 $server; exit; fi
                      sleep 0.05; turns=$((turns - 1))
                    done
                    [ -n "$word" ] || [ -z "$leftovers" ] || rm -rf -- "$leftovers"
                    """, ["server", logFile, signal, leftovers ?? ""] + command,
                environment: ProcessInfo.processInfo.environment.merging(environment) { _, ours in ours },
                input: input.reader, output: life.writer)
        } catch {
            Socket.close(input.writer)
            Socket.close(life.reader)
            throw error
        }
        self.input = Mutex(input.writer)
        self.life = life.reader
    }

    deinit {
        closeInput()
        Socket.close(life)
    }

    /// Until it is killed, whether or not the server has ended by itself.
    package var isRunning: Bool { shell.isRunning }

    /// Whether the server has ended, with everything that it has started.
    package var hasEnded: Bool {
        var entry = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
    }

    /// Ends it at once, and waits for that.
    package func kill() {
        closeInput(saying: "kill")
        shell.wait()
    }

    /// The shell sees the end of its input, and ends the server.
    private func closeInput(saying word: String? = nil) {
        input.withLock { input in
            if let input, let word { _ = Array("\(word)\n".utf8).withUnsafeBytes { Socket.send(input, $0) } }
            if let input { Socket.close(input) }
            input = nil
        }
    }

    /// The end of its output, for error messages.
    package var logTail: String {
        let text = (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? ""
        return String(text.suffix(2000))
    }
}

/// Runs a program until it exits.
package enum ProcessRun {
    /// - Parameter logFile: The file to which the program's output is appended.
    /// - Returns: The program's exit status; -1 if a signal has ended it.
    package static func status(of command: [String], logFile: String) async throws -> Int32 {
        let shell = try SpawnedProcess(
            script: "log=$1; shift; exec \"$@\" < /dev/null >> \"$log\" 2>&1", ["run", logFile] + command,
            environment: ProcessInfo.processInfo.environment)
        guard case .exited(let status) = try await shell.end() else { return -1 }
        return status
    }
}

import Foundation
import Synchronization

/// A server that a test starts, and that ends with the test process, however that ends.
///
/// The server runs under a shell that reads from a pipe of ours: when this process goes, even by a crash, the pipe closes
/// and the shell ends the server. It does not wait for it: children of a test process may inherit a mask that blocks
/// the signal by which a shell would learn of it.
package final class ServerProcess: Sendable {
    private let process: Mutex<Process>
    private let input: Pipe
    package let logFile: String

    /// - Parameter environment: In addition to this process's own.
    package init(_ command: [String], environment: [String: String] = [:], logFile: String) throws {
        self.logFile = logFile
        _ = FileManager.default.createFile(atPath: logFile, contents: nil)
        let input = Pipe()
        // Otherwise the shell would inherit our end of the pipe and hold open what it waits to see closed.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            ["-c", "\"$@\" < /dev/null & server=$!; read -r _; kill -9 $server", "server"]
            + command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, ours in ours }
        process.standardInput = input
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: logFile))
        process.standardOutput = log
        process.standardError = log
        try process.run()
        self.input = input
        self.process = Mutex(process)
    }

    package var isRunning: Bool { process.withLock { $0.isRunning } }

    /// Ends it at once, as a power cut would.
    package func kill() {
        try? input.fileHandleForWriting.close()
        process.withLock { $0.waitUntilExit() }
    }

    /// The end of what it printed, for a test that failed.
    package var logTail: String {
        let text = (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? ""
        return String(text.suffix(2000))
    }

    deinit { try? input.fileHandleForWriting.close() }
}

/// A TCP port of the loopback interface that was free a moment ago.
package func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
        }
    }
    guard result else { throw DeadlineExceeded(description: "no free port on the loopback interface") }
    return Int(UInt16(bigEndian: address.sin_port))
}

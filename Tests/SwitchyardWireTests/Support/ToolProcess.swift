import Foundation
import Glibc
import Synchronization

/// A child process that ends with the test, however that ends.
final class ToolProcess: @unchecked Sendable {
    // Foundation's Process is used from one thread at a time: started in init, ended in deinit; the pipe by its reader.
    private let process = Process()
    private let output = Pipe()

    /// Starts `tool`; `lines` reads what it prints. The tool must end when its standard input does.
    init(_ tool: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardInput = Pipe()
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        // Waiting would need a run loop, which the tests' threads do not have.
        process.terminate()
    }

    /// The first line, read byte by byte so that nothing behind it is lost.
    func firstLine() -> String {
        var line: [UInt8] = []
        while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Runs a tool to its end.
    ///
    /// - Throws: if it fails.
    static func output(_ tool: String, _ arguments: String..., in folder: String? = nil) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        while process.isRunning { usleep(1000) }
        guard process.terminationStatus == 0 else { throw ToolFailure(tool: tool, status: process.terminationStatus) }
        return Array(bytes)
    }
}

struct ToolFailure: Error {
    let tool: String
    let status: Int32
}

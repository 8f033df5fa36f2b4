import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport

/// A child process that ends with the test, however that ends.
final class ToolProcess: Sendable {
    private let process: SpawnedProcess
    private let output: FileHandle
    /// Open for as long as this process lives.
    private let input: FileHandle

    /// Starts `tool`; `firstLine` reads what it prints. The tool must end when its standard input does.
    init(_ tool: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        let (typed, printed) = (try PipeEnds(), try PipeEnds())
        input = FileHandle(fileDescriptor: typed.writer, closeOnDealloc: true)
        output = FileHandle(fileDescriptor: printed.reader, closeOnDealloc: true)
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for end in [typed.reader, printed.writer, nowhere] { close(end) } }
        process = try SpawnedProcess(
            "/usr/bin/env", [tool] + arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            input: typed.reader, output: printed.writer, errors: nowhere)
    }

    deinit { process.send(SIGTERM) }

    /// The first line, read byte by byte so that nothing behind it is lost.
    func firstLine() -> String {
        var line: [UInt8] = []
        while let byte = try? output.read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Runs a tool to its end.
    ///
    /// - Throws: if it fails.
    static func output(_ tool: String, _ arguments: String..., in folder: String = ".") throws -> [UInt8] {
        let finished = try TestProgram.run([tool] + arguments, in: folder)
        guard finished.status == 0 else { throw ToolFailure(tool: tool, status: finished.status) }
        return finished.output
    }
}

struct ToolFailure: Error {
    let tool: String
    let status: Int32
}

import Foundation
package import SwitchyardServerKit

/// Programs that tests run to their end.
///
/// Not by Foundation's `Process`: it misses the end of a program while another one, started at the same moment, holds a socket
/// that it has inherited.
package enum TestProgram {
    package struct Finished: Sendable {
        /// -1 if a signal has ended it.
        package let status: Int32
        package let output: [UInt8]
        package let errors: String

        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Runs a program, and blocks until it has ended.
    ///
    /// - Parameters:
    ///   - command: The program, by its path or its name, with its arguments.
    ///   - environment: Variables besides those of this process.
    ///   - input: What its standard input has.
    package static func run(
        _ command: [String], environment: [String: String] = [:], in folder: String = ".", input: String = ""
    ) throws -> Finished {
        // Files, unlike pipes, need no one to read them meanwhile.
        let (stdin, stdout, stderr) = (try Scratch(), try Scratch(), try Scratch())
        try stdin.handle.write(contentsOf: Data(input.utf8))
        try stdin.handle.seek(toOffset: 0)
        let process = try SpawnedProcess(
            command, in: folder,
            environment: ProcessInfo.processInfo.environment.merging(environment) { _, given in given },
            input: stdin.number, output: stdout.number, errors: stderr.number)
        let end = process.wait()
        let status: Int32 = if case .exited(let status) = end { status } else { -1 }
        return Finished(
            status: status, output: try stdout.contents(),
            errors: String(decoding: try stderr.contents(), as: UTF8.self))
    }

    /// Runs a program, without holding one of the threads that tasks share.
    package static func finished(
        _ command: [String], environment: [String: String] = [:], in folder: String = ".", input: String = ""
    ) async throws -> Finished {
        try await onOwnThread { try run(command, environment: environment, in: folder, input: input) }
    }

    /// A file without a name, which goes with this value.
    private struct Scratch {
        let handle: FileHandle
        var number: Int32 { handle.fileDescriptor }

        init() throws {
            let path = ScratchSpace.url.appendingPathComponent("program-\(UUID().uuidString)").path
            let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            unlink(path)
            handle = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        }

        func contents() throws -> [UInt8] {
            try handle.seek(toOffset: 0)
            return Array(try handle.readToEnd() ?? Data())
        }
    }
}

extension SpawnedProcess {
    /// - Parameter command: The program, by its path or its name, with its arguments.
    package convenience init(
        _ command: [String], in folder: String, environment: [String: String], input: Int32, output: Int32,
        errors: Int32
    ) throws(Refusal) {
        try self.init(
            "/bin/sh", ["-c", "cd \"$0\" && exec \"$@\"", folder] + command, environment: environment, input: input,
            output: output, errors: errors)
    }
}

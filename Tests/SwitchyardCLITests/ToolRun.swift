import Foundation
import SwitchyardTestSupport
import Synchronization

/// One run of the program from its start to its end: what it is given, and everything that it prints.
final class ToolRun: Sendable {
    private let process: Mutex<Process>
    private let printed = Mutex<(output: [UInt8], errors: [UInt8])>(([], []))
    private let ends = Mutex(0)
    private let input: FileHandle?
    private let terminal: Int32?

    /// - Parameters:
    ///   - words: Its arguments.
    ///   - input: What its standard input has. `nil` leaves it open, to type later.
    ///   - environment: Variables besides those of this process; of this package's own, only these.
    ///   - columns: The width of a terminal that it runs in; without it, it has none.
    ///   - output: What takes its output, instead of this test.
    init(
        _ words: [String], input typed: String? = "", environment: [String: String] = [:], columns: Int? = nil,
        in folder: URL? = nil, output file: FileHandle? = nil
    ) throws {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent()
            .appendingPathComponent("switchyard")
        process.arguments = words
        if let folder { process.currentDirectoryURL = folder }
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SWITCHYARD_") }
        variables["TERM"] = "xterm"
        variables.merge(environment) { _, new in new }
        process.environment = variables
        var readers: [(FileHandle, isError: Bool)] = []
        if let columns {
            var (ours, theirs): (Int32, Int32) = (0, 0)
            var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
            guard openpty(&ours, &theirs, nil, nil, &size) == 0 else { throw NoTerminal() }
            let handle = FileHandle(fileDescriptor: theirs, closeOnDealloc: true)
            process.standardInput = handle
            process.standardOutput = handle
            process.standardError = handle
            terminal = ours
            input = nil
            readers = [(FileHandle(fileDescriptor: ours, closeOnDealloc: true), false)]
        } else {
            terminal = nil
            let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
            process.standardInput = stdin
            process.standardOutput = file ?? stdout
            process.standardError = stderr
            if let typed {
                input = nil
                let bytes = Data(typed.utf8)
                let writer = stdin.fileHandleForWriting
                Thread.detachNewThread {
                    try? writer.write(contentsOf: bytes)
                    try? writer.close()
                }
            } else {
                input = stdin.fileHandleForWriting
            }
            readers = [(stderr.fileHandleForReading, true)]
            if file == nil { readers.append((stdout.fileHandleForReading, false)) }
        }
        try process.run()
        // Ours would keep the terminal open after its end.
        if terminal != nil { try? (process.standardInput as? FileHandle)?.close() }
        number = process.processIdentifier
        self.process = Mutex(process)
        expectedEnds = readers.count
        for (handle, isError) in readers { read(handle, isError: isError) }
    }

    struct NoTerminal: Error {}

    let number: Int32
    private let expectedEnds: Int

    private func read(_ handle: FileHandle, isError: Bool) {
        Thread.detachNewThread { [weak self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                // A terminal whose other side is closed ends with an error.
                let count = Foundation.read(handle.fileDescriptor, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                self?.printed.withLock { printed in
                    if isError { printed.errors += chunk[..<count] } else { printed.output += chunk[..<count] }
                }
            }
            self?.ends.withLock { $0 += 1 }
        }
    }

    var output: String { String(decoding: printed.withLock { $0.output }, as: UTF8.self) }
    var errors: String { String(decoding: printed.withLock { $0.errors }, as: UTF8.self) }
    var lines: [Substring] { output.split(separator: "\n") }

    /// Types into it.
    func type(_ text: String) throws {
        if let terminal {
            _ = Array(text.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
        } else {
            try input?.write(contentsOf: Data(text.utf8))
        }
    }

    func closeInput() throws { try input?.close() }

    /// Waits until it has printed something, on either stream.
    func prints(_ text: String) async throws {
        try await eventually("“\(text)” is printed", within: .seconds(60)) { [self] in
            output.contains(text) || errors.contains(text)
        }
    }

    /// Ctrl-C, as a terminal passes it on.
    func interrupt() { kill(number, SIGINT) }

    /// Ends it without a chance to clean up.
    ///
    /// - Returns: Whether it was still running.
    func killAtOnce() -> Bool {
        process.withLock { process in
            guard process.isRunning else { return false }
            return kill(process.processIdentifier, SIGKILL) == 0
        }
    }

    /// Waits for its end, and for everything it has printed.
    @discardableResult
    func status() async throws -> Int32 {
        try await eventually("the program has ended: \(output)\(errors)", within: .seconds(60)) { [self] in
            !process.withLock(\.isRunning) && ends.withLock { $0 } == expectedEnds
        }
        return process.withLock { $0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus }
    }

    deinit { process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } } }
}

/// A folder of a test, with a configuration in it.
final class ToolFolder: Sendable {
    let url: URL
    var config: String { url.appendingPathComponent("backend.json").path }

    /// - Parameter configuration: JSON; by default, that of a mock whose data are in the folder.
    init(_ configuration: String? = nil) throws {
        url = ScratchSpace.url.appendingPathComponent("tool-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let json =
            configuration
            ?? #"{"default":"mock","providers":{"mock":{"folder":"\#(url.appendingPathComponent("data").path)"}}}"#
        try Data(json.utf8).write(to: URL(fileURLWithPath: config))
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Runs a command on the configuration, to its end.
    @discardableResult
    func run(_ words: String..., input: String = "", environment: [String: String] = [:]) async throws -> ToolRun {
        let run = try start(words, input: input, environment: environment)
        try await run.status()
        return run
    }

    func start(
        _ words: [String], input: String? = "", environment: [String: String] = [:], columns: Int? = nil,
        output: FileHandle? = nil
    ) throws -> ToolRun {
        try ToolRun(
            words, input: input, environment: environment.merging(["SWITCHYARD_CONFIG": config]) { new, _ in new },
            columns: columns, in: url, output: output)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

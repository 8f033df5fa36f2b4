import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization

/// One run of the program from its start to its end: what it is given, and everything that it prints.
final class ToolRun: Sendable {
    private let process: SpawnedProcess
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
        let program = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("switchyard").path
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SWITCHYARD_") }
        variables["TERM"] = "xterm"
        variables.merge(environment) { _, new in new }
        // What the program gets is closed here once it has it: ours would keep a pipe or a terminal open after its end.
        let (stdin, stdout, stderr): (Int32, Int32, Int32)
        var readers: [(Int32, isError: Bool)] = []
        if let columns {
            var (ours, theirs): (Int32, Int32) = (0, 0)
            var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
            guard openpty(&ours, &theirs, nil, nil, &size) == 0 else { throw NoTerminal() }
            (stdin, stdout, stderr) = (theirs, theirs, theirs)
            terminal = ours
            input = nil
            readers = [(ours, false)]
        } else {
            terminal = nil
            let (typing, printing, complaining) = (try PipeEnds(), try PipeEnds(), try PipeEnds())
            (stdin, stderr) = (typing.reader, complaining.writer)
            let writer = FileHandle(fileDescriptor: typing.writer, closeOnDealloc: true)
            if let typed {
                input = nil
                let bytes = Data(typed.utf8)
                Thread.detachNewThread {
                    try? writer.write(contentsOf: bytes)
                    try? writer.close()
                }
            } else {
                input = writer
            }
            readers = [(complaining.reader, true)]
            if let file {
                stdout = file.fileDescriptor
                for end in [printing.reader, printing.writer] { close(end) }
            } else {
                stdout = printing.writer
                readers.append((printing.reader, false))
            }
        }
        defer { for end in Set([stdin, stdout, stderr]) where end != file?.fileDescriptor { close(end) } }
        process = try SpawnedProcess(
            [program] + words, in: folder?.path ?? ".", environment: variables, input: stdin, output: stdout,
            errors: stderr)
        expectedEnds = readers.count
        for (reader, isError) in readers { read(reader, isError: isError) }
    }

    struct NoTerminal: Error {}

    /// As which the system knows it.
    var number: Int32 { process.id }
    private let expectedEnds: Int

    private func read(_ reader: Int32, isError: Bool) {
        Thread.detachNewThread { [weak self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                // A terminal whose other side is closed ends with an error.
                let count = Foundation.read(reader, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                self?.printed.withLock { printed in
                    if isError { printed.errors += chunk[..<count] } else { printed.output += chunk[..<count] }
                }
            }
            if self?.terminal != reader { close(reader) }
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
    func interrupt() { process.send(SIGINT) }

    /// Ends it without a chance to clean up.
    ///
    /// - Returns: Whether it was still running.
    func killAtOnce() -> Bool { process.send(SIGKILL) }

    var isRunning: Bool { process.isRunning }

    /// The most memory that it has had, in bytes; zero once it has ended.
    var peakMemory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }

    /// Waits for its end, and for everything it has printed.
    ///
    /// - Returns: Its exit status; minus the signal that has ended it.
    @discardableResult
    func status() async throws -> Int32 {
        try await eventually("the program has ended: \(output)\(errors)") { [self] in
            !process.isRunning && ends.withLock { $0 } == expectedEnds
        }
        return switch process.ended() {
        case .exited(let status): status
        case .killed(let signal): -signal
        case .unknown, nil: throw HasEnded()
        }
    }

    /// Asks it to end, as a service manager does.
    ///
    /// - Returns: Its exit status; `nil` where the signal has ended it.
    func end() async throws -> Int32? {
        process.send(SIGTERM)
        let status = try await status()
        return status < 0 ? nil : status
    }

    struct HasEnded: Error {}

    /// The variables that it prints, once the one that is waited for is among them.
    func variables(with name: String) async throws -> [String: String] {
        var found: [String: String] = [:]
        try await eventually("it has printed its addresses") { [self] in
            guard isRunning else { throw HasEnded() }
            // A line counts once it is complete.
            for line in output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let words = line.split(separator: " ", maxSplits: 1)
                guard words.count == 2, words[0] == "export", let sign = words[1].firstIndex(of: "=") else { continue }
                found[String(words[1][..<sign])] = String(words[1][words[1].index(after: sign)...])
            }
            return found[name] != nil
        }
        return found
    }

    deinit {
        process.send(SIGKILL)
        if let terminal { close(terminal) }
    }
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

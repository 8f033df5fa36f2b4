import Foundation
import SwitchyardTestSupport
import Synchronization

/// The program `switchyard` in a process of its own, as somebody runs it in a terminal.
final class RunningProgram: Sendable {
    private let process: Mutex<Process>
    private let output: Mutex<String>
    private let pipe: Pipe

    /// - Parameters:
    ///   - words: Its arguments.
    ///   - input: What is typed; nothing without it.
    ///   - file: What takes its output, instead of this test.
    init(_ words: [String], input: String? = nil, output file: FileHandle? = nil) throws {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let process = Process()
        // Built beside the tests.
        process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(
            "switchyard")
        process.arguments = words
        let pipe = Pipe()
        process.standardOutput = file ?? pipe
        let typed = Pipe()
        try typed.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
        try typed.fileHandleForWriting.close()
        process.standardInput = typed
        try process.run()
        self.pipe = pipe
        output = Mutex("")
        number = process.processIdentifier
        self.process = Mutex(process)
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let text = String(decoding: handle.availableData, as: UTF8.self)
            if text.isEmpty { handle.readabilityHandler = nil }
            self?.output.withLock { $0 += text }
        }
    }

    struct HasEnded: Error {}

    var isRunning: Bool { process.withLock(\.isRunning) }

    /// As which the system knows it.
    let number: Int32

    /// The variables that it prints, once the one that is waited for is among them.
    func variables(with name: String) async throws -> [String: String] {
        var found: [String: String] = [:]
        try await eventually("it has printed its addresses") { [self] in
            guard process.withLock(\.isRunning) else { throw HasEnded() }
            // A line counts once it is complete.
            for line in output.withLock({ $0 }).split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let words = line.split(separator: " ", maxSplits: 1)
                guard words.count == 2, words[0] == "export", let sign = words[1].firstIndex(of: "=") else { continue }
                found[String(words[1][..<sign])] = String(words[1][words[1].index(after: sign)...])
            }
            return found[name] != nil
        }
        return found
    }

    /// Waits until it has said something.
    func says(_ words: String) async throws {
        try await eventually("it says “\(words)”") { [self] in output.withLock { $0.contains(words) } }
    }

    /// Waits until it has ended by itself.
    ///
    /// - Returns: Its exit status.
    func status() async throws -> Int32 {
        try await eventually("the program has ended") { [self] in !process.withLock(\.isRunning) }
        return process.withLock(\.terminationStatus)
    }

    /// Asks it to end, as a service manager does.
    ///
    /// - Returns: Its exit status; `nil` where the signal has ended it.
    func end() async throws -> Int32? {
        process.withLock { $0.terminate() }
        try await eventually("the program has ended") { [self] in !process.withLock(\.isRunning) }
        return process.withLock { $0.terminationReason == .exit ? $0.terminationStatus : nil }
    }

    deinit { process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } } }
}

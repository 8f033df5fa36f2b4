import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@Suite struct SpawnedProcessTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test func `An end is seen although another program holds all that the first one had open`() async throws {
        let printed = try PipeEnds()
        defer { close(printed.reader) }
        let process = try SpawnedProcess(
            "/bin/sh", ["-c", "sleep 600 & echo $!; exit 3"], environment: Self.environment, output: printed.writer)
        close(printed.writer)
        #expect(try await process.end() == .exited(status: 3))
        #expect(!process.isRunning && !process.send(SIGTERM), "its number may be another program's by now")
        var line = [UInt8](repeating: 0, count: 20)
        let count = read(printed.reader, &line, line.count)
        let sleeper = try #require(Int32(String(decoding: line[..<max(0, count - 1)], as: UTF8.self)))
        #expect(kill(sleeper, SIGKILL) == 0, "the other one still runs")
    }

    @Test func `A program is signalled and asked while somebody waits for its end`() async throws {
        let process = try SpawnedProcess("/bin/sleep", ["600"], environment: Self.environment)
        async let end = process.end()
        #expect(process.isRunning && process.ended() == nil)
        #expect(process.send(SIGTERM))
        #expect(try await end == .killed(signal: SIGTERM))
        #expect(process.ended() == .killed(signal: SIGTERM) && process.wait() == .killed(signal: SIGTERM))
    }

    @Test func `What no one waits for leaves no entry with the system`() async throws {
        let process = try SpawnedProcess("/bin/sh", ["-c", "exit 4"], environment: Self.environment)
        try await eventually("the system has forgotten it") { kill(process.id, 0) != 0 }
        #expect(process.ended() == .exited(status: 4))
        let number = try SpawnedProcess("/bin/sh", ["-c", "exit 0"], environment: Self.environment).id
        try await eventually("the system has forgotten this one too") { kill(number, 0) != 0 }
    }

    @Test func `A program that is not there is refused with its path`() {
        let refusal = #expect(throws: SpawnedProcess.Refusal.self) {
            _ = try SpawnedProcess("/nowhere/at-all", [], environment: [:])
        }
        #expect(refusal.map { "\($0)" }?.hasPrefix("/nowhere/at-all cannot be started: No such file") == true)
    }
}

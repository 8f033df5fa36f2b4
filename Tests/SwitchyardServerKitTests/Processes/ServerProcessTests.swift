import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@Suite struct ServerProcessTests {
    @Test func `A server that is killed is gone, and so is the shell that watched it`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let mark = folder.appendingPathComponent("pid").path
        let server = try ServerProcess(
            ["/bin/sh", "-c", "echo $$ > \(mark); exec sleep 600"], logFile: folder.appendingPathComponent("log").path)
        try await eventually("the server has said its number") {
            (try? String(contentsOfFile: mark, encoding: .utf8).isEmpty == false) ?? false
        }
        let pid = try #require(
            Int32(String(contentsOfFile: mark, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(pid, 0) == 0)
        server.kill()
        #expect(!server.isRunning)
        try await eventually("the server is gone") { kill(pid, 0) != 0 }
    }

    @Test func `A server that ends by itself is seen to have ended, with what it said`() async throws {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let lasting = try ServerProcess(["sleep", "600"], logFile: "/dev/null")
        let server = try ServerProcess(["/bin/sh", "-c", "echo no room; exit 3"], logFile: log.path)
        try await eventually("the server has ended") { server.hasEnded }
        #expect(server.logTail == "no room\n")
        #expect(!lasting.hasEnded)
        lasting.kill()
        try await eventually("the other one has ended") { lasting.hasEnded }
        server.kill()
    }

    @Test func `A server that may clean up is asked first, and has ended when that returns`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("asked-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = folder.appendingPathComponent("log").path
        let server = try ServerProcess(
            ["/bin/sh", "-c", "trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.01; done"],
            endingBy: "TERM", logFile: log)
        try await eventually("it is there") { server.logTail == "ready\n" }
        server.kill()
        #expect(server.hasEnded && server.logTail == "ready\ncleaned\n")
    }
}

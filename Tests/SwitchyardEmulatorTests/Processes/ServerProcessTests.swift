import Foundation
import SwitchyardEmulator
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
}

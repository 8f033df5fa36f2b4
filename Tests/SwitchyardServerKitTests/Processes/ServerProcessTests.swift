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

    @Test func `What a server leaves behind goes with a process that cannot end it, and stays with one that can`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("left-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func server() throws -> ServerProcess {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return try ServerProcess(["sleep", "600"], endingBy: "TERM", leftovers: folder.path, logFile: "/dev/null")
        }
        let ended = try server()
        ended.kill()
        #expect(ended.hasEnded && FileManager.default.fileExists(atPath: folder.path))
        // Its socket closes, as it would with this process.
        _ = try server()
        try await eventually("the folder is gone") { !FileManager.default.fileExists(atPath: folder.path) }
    }

    @Test func `A program gives its exit status; one that cannot be found or is killed has none of its own`()
        async throws
    {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        #expect(try await ProcessRun.status(of: ["/bin/sh", "-c", "echo said; exit 7"], logFile: log.path) == 7)
        #expect(try await ProcessRun.status(of: ["/bin/sh", "-c", "kill -9 $$"], logFile: log.path) == -1)
        #expect(try await ProcessRun.status(of: ["/nowhere/at-all"], logFile: log.path) == 127)
        #expect(try String(contentsOf: log, encoding: .utf8).hasPrefix("said\n"))
    }

    #if os(Linux)
        @Test func `A server inherits no file of this process, and blocks no signal`() async throws {
            let log = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: log) }
            let ours = open("/dev/null", O_RDONLY)
            defer { close(ours) }
            let server = try ServerProcess(
                ["/bin/sh", "-c", "echo $SWITCHYARD_TEST; ls /proc/$$/fd; grep SigBlk /proc/self/status"],
                environment: ["SWITCHYARD_TEST": "ours and theirs"], logFile: log.path)
            try await eventually("the server has ended") { server.hasEnded }
            let lines = server.logTail.split(separator: "\n")
            #expect(lines.first == "ours and theirs")
            #expect(lines.contains("1") && !lines.contains("\(ours)"))
            #expect(lines.last == "SigBlk:\t0000000000000000")
            server.kill()
        }
    #endif
}

import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

/// Whatever comes in at a door of the local servers, their process goes on: random bytes where requests, frames and bodies are
/// expected, and the ends of all integers wherever a request has a number.
///
/// A few seconds of it with the other tests; `SWITCHYARD_DOOR_SECONDS=600` for ten minutes.
@Suite struct DoorTests {
    @Test func `Every request has numbers where the servers read some, and each is found`() {
        for request in DoorRequest.firebase + DoorRequest.supabase {
            #expect(request.text.utf8.first.map { (65...90).contains($0) } == true, "\(request.text)")
        }
        let request = DoorRequest(text: "GET /a?limit=10&x=-5\nRange: bytes=0-3\n\n{\"n\":1.5,\"big\":[12345]}")
        #expect(request.numbers.map { String(request.text[$0]) } == ["10", "-5", "0", "3", "1.5", "12345"])
        let changed = request.replacing(request.numbers[0], by: "9223372036854775807")
        #expect(
            String(decoding: changed.bytes([:]), as: UTF8.self).hasPrefix(
                "GET /a?limit=9223372036854775807&x=-5 HTTP/1.1\r\n"))
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `Random bytes and numbers at every door do not end the process`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doors-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try await DoorRun(folder: folder)
        try await run.prepare()
        #expect(try run.answers())
        let outcome = try await run.fuzz()
        let answers = outcome.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        print(
            "doors: seed \(DoorRun.seed), \(outcome.requests) requests, \(outcome.left) numbers left, answers",
            answers.joined(separator: ", "))
        try #require(run.program.isRunning, "seed \(DoorRun.seed); the last that was sent:\n\(outcome.report)")
        #expect(outcome.answers.values.reduce(0, +) > outcome.requests / 4, "much of it is answered")
        #expect(outcome.answers[200] ?? 0 > outcome.requests / 50, "and some of it is what a client would send")
        #expect(try run.answers())
        #expect(try await run.program.end() == 0)
        // What all that has left in the folder is readable.
        let again = try await DoorRun(folder: folder)
        #expect(try again.answers())
        #expect(try await again.program.end() == 0)
    }
}

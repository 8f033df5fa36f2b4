import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// `switchyard move` between two mocks in folders, and an archive.
@Suite struct MoveCommandTests {
    private let folder = ScratchSpace.url.appendingPathComponent(
        "move-\(UInt64.random(in: 0 ... .max))", isDirectory: true)

    /// - Returns: The path of a configuration for a mock in a folder.
    private func site(_ name: String, documents: Int) async throws -> String {
        let data = folder.appendingPathComponent(name, isDirectory: true)
        let backend = try MockBackend(folder: data)
        let storage = try await backend.infrastructure().actingAsProject().storage
        for number in 0..<documents { try await storage.setDocument("things/\("\(number)")", ["n": .of(number)]) }
        backend.close()
        let file = folder.appendingPathComponent("\(name).json")
        try Data(#"{"default":"mock","providers":{"mock":{"folder":"\#(data.path)"}}}"#.utf8).write(to: file)
        return file.path
    }

    @Test func `Plan, run, verify, repair, export and import`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (old, new) = (try await site("old", documents: 20), try await site("new", documents: 0))
        let other = try await site("other", documents: 0)
        let (journal, archive) = (folder.path + "/journal", folder.path + "/archive")
        func move(_ words: String...) async throws -> SwitchyardCLI.ExitStatus {
            try await CommandLineTool.run(["move"] + words)
        }

        #expect(try await move("plan", "--from", old, "--to", new, "--json") == .success)
        #expect(try await move("verify", "--from", old, "--to", new) == .failure)
        #expect(try await move("run", "--from", old, "--to", new, "--journal", journal) == .success)
        #expect(try await move("verify", "--from", old, "--to", new) == .success)
        #expect(try await move("run", "--from", old, "--to", other, "--journal", journal) == .failure)
        #expect(try await move("verify", "--from", old, "--to", other, "--repair") == .success)
        #expect(try await move("verify", "--from", old, "--to", other) == .success)
        #expect(try await move("export", "--from", old, "--to", archive) == .success)
        #expect(try await move("verify", "--from", old, "--to", archive) == .success)
        let plan = folder.appendingPathComponent("plan.json")
        try Data(#"{"from":"old","to":"new","collections":[],"problems":[],"remarks":[]}"#.utf8).write(to: plan)
        #expect(try await move("verify", "--from", new, "--to", archive, "--plan", plan.path) == .success)
        #expect(try await move("verify", "--from", new, "--to", archive, "--plan", old) == .failure)
        let last = try await site("last", documents: 0)
        #expect(try await move("import", "--from", archive, "--to", last, "--throttle", "1000") == .success)
        #expect(try await move("verify", "--from", old, "--to", last) == .success)
    }

    @Test func `A rehearsal copies everything into a local server of the target's kind, and leaves the target alone`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (old, new) = (try await site("old", documents: 20), try await site("new", documents: 0))
        func move(_ words: String...) async throws -> SwitchyardCLI.ExitStatus {
            try await CommandLineTool.run(["move"] + words)
        }
        #expect(try await move("rehearse", "--from", old, "--to", new) == .success)
        #expect(try await move("verify", "--from", old, "--to", new) == .failure)
        // No one is at that address: a rehearsal does not ask.
        let hosted = folder.appendingPathComponent("hosted.json")
        try Data(
            #"{"default":"firebase","providers":{"firebase":{"project":"p","apiKey":"k","emulators":{"firestore":"127.0.0.1:9"}}}}"#
                .utf8
        ).write(to: hosted)
        #expect(try await move("rehearse", "--from", old, "--to", hosted.path, "--json") == .success)
        await #expect(throws: UsageError.self) { try await move("rehearse", "--from", old, "--to", folder.path) }
    }
}

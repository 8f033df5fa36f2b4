import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardMove
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// A move as a process that is killed again and again.
@Suite struct MoveProofTests {
    @Test func `Killed again and again, an import arrives whole: the same counts, hashes and checksums`() async throws {
        let (documents, files, fileSize, kills) =
            RunSize.isFull ? (20_000, 100, 2_000_000, 50) : (2_000, 10, 100_000, 6)
        let folder = try ToolFolder()
        let archive = URL(fileURLWithPath: folder.path("archive"), isDirectory: true)
        try await Self.export(documents, files, fileSize, to: archive, journal: folder.path("export"))
        let data = FileManager.default.temporaryDirectory.appendingPathComponent(
            "proof-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: data) }

        var options = LocalFirebaseOptions()
        options.allowsEverything = true
        options.folder = data
        let server = try LocalFirebase(options)
        let config = """
            { "default": "firebase", "providers": { "firebase": {
                "project": "\(server.project)", "apiKey": "any", "bucket": "files",
                "emulators": { "firestore": "\(server.host)", "auth": "\(server.host)", "storage": "\(server.host)" } } } }
            """
        try Data(config.utf8).write(to: URL(fileURLWithPath: folder.config))
        var random = SeededGenerator(seed: 1)
        var killed = 0
        var peak = 0
        for _ in 0..<kills {
            let run = try folder.start([
                "move", "import", "--from", archive.path, "--to", folder.config, "--throttle", "1000",
            ])
            // Not for anything to happen: it is killed wherever it is then.
            try await Task.sleep(for: .milliseconds(random.int(100..<700)))
            peak = max(peak, run.peakMemory)
            if run.killAtOnce() { killed += 1 }
            _ = try await run.status()
        }
        let last = try await folder.run("move", "import", "--from", archive.path, "--to", folder.config)
        #expect(try await last.status() == 0, "\(last.errors)")
        let target = try await InfrastructureFactory(configurable: Providers.all).make(
            try InfrastructureConfiguration(contentsOf: URL(fileURLWithPath: folder.config)))
        let move = Move(from: try ArchiveEnd(archive), to: try await BackendEnd(target))
        let verification = try await move.verify(try await move.plan())
        #expect(verification.isEqual, "\(verification)")
        #expect(peak > 0 && peak < 600 << 20, "memory that does not grow with what is moved: \(peak >> 20) MB")
        print(
            "move killed \(killed) times of \(kills): \(documents) documents, \(files) files, at most \(peak >> 20) MB")
        await target.shutDown()
        await server.stop()
    }

    private static func export(
        _ documents: Int, _ files: Int, _ fileSize: Int, to archive: URL, journal: String
    ) async throws {
        let backend = try await MockBackend().infrastructure()
        let project = try await backend.actingAsProject()
        let writes = try (0..<documents).map { number in
            try DocumentWrite.set(
                "\(number % 2 == 0 ? "things" : "orders")/\("d\(number)")",
                data: ["n": .integer(Int64(number)), "text": .string(String(repeating: "x", count: number % 200))])
        }
        try await project.storage.writeInBulk(writes)
        for number in 0..<files {
            let part = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* (number + 1)) })
            var bytes = Data(capacity: fileSize)
            while bytes.count < fileSize { bytes += part }
            try await project.files.put(bytes, at: "photos/\("\(number).bin")")
        }
        let export = Move(from: try await BackendEnd(backend), to: try ArchiveEnd(archive, creates: true))
        let exported = try await export.run(
            try await export.plan(), journal: URL(fileURLWithPath: journal)
        ).result()
        #expect(exported.documents == documents && exported.files == files)
        await backend.shutDown()
    }
}

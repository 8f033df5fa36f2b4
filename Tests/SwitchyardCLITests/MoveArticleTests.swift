import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMove
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// The plan of the article on live moves, command by command, from a local Firebase to a local Supabase.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed")) struct MoveArticleTests {
    @Test func `The commands of “Moving while everything runs” move an app that goes on writing`() async throws {
        let folder = ScratchSpace.url.appendingPathComponent(
            "article-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var firebaseOptions = LocalFirebaseOptions()
        firebaseOptions.allowsEverything = true
        let firebase = try LocalFirebase(firebaseOptions)
        var supabaseOptions = LocalSupabaseOptions()
        supabaseOptions.scripts = [DocumentSchema.sql]
        supabaseOptions.buckets = ["files"]
        let supabase = try await LocalSupabase.onSharedPostgres(supabaseOptions)
        let settings = [
            "firebase": """
            "firebase": { "project": "\(firebase.project)", "apiKey": "any", "bucket": "files", "writeLedger": "ledger",
              "emulators": { "firestore": "\(firebase.host)", "auth": "\(firebase.host)", "storage": "\(firebase.host)" } }
            """,
            "supabase": """
            "supabase": { "url": "\(supabase.url.absoluteString)", "key": "\(supabase.anonKey)",
              "serviceKey": "\(supabase.serviceKey)", "bucket": "files" }
            """,
        ]
        let files = [
            "old.json": #"{ "default": "firebase", "providers": { \#(settings["firebase"]!) } }"#,
            "new.json": #"{ "default": "supabase", "providers": { \#(settings["supabase"]!) } }"#,
            "app.json": """
            { "default": "firebase", "clients": { "storage": "moving", "files": "moving" },
              "providers": { "moving": { "from": "firebase", "to": "supabase" },
                             \(settings["firebase"]!), \(settings["supabase"]!) } }
            """,
        ]
        for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }

        // The app: a server, which acts for the project.
        let backend = try await InfrastructureFactory(configurable: Providers.all).make(
            try InfrastructureConfiguration(contentsOf: folder.appendingPathComponent("app.json")))
        let app = try await backend.actingAsProject()
        try await app.storage.setDocument("counters/c", ["n": 0])
        try await app.files.put(Data("a picture".utf8), at: "photos/a.png")
        let writing = Task {
            var count: Int64 = 0
            while !Task.isCancelled {
                // In a task of its own, so that a write that has begun is not cancelled.
                try await Task {
                    _ = try await app.storage.updateDocument("counters/c", ["n": .increment(1)])
                }.value
                count += 1
            }
            return count
        }

        var process: Task<SwitchyardCLI.ExitStatus, any Error>?
        let commands = try commands()
        #expect(commands.count >= 14)
        for command in commands {
            let words = command.dropFirst().map { word in
                ["old.json", "new.json", "journal"].contains(word) ? folder.appendingPathComponent(word).path : word
            }
            if words.prefix(2) == ["move", "start"] {
                process = Task { try await CommandLineTool.run(words + ["--linger", "1"]) }
                try await eventually("the copy is done") {
                    try await CommandLineTool.run(["move", "to", "dual-write"] + words.suffix(from: 2).prefix(4))
                        == .success
                }
                continue
            }
            if words.prefix(3) == ["move", "to", "done"] { writing.cancel() }
            let status = try await CommandLineTool.run(words)
            // A target that is written to meanwhile differs in a rehearsal.
            if words.prefix(2) != ["move", "rehearse"] { #expect(status == .success, "\(command)") }
        }
        let count = try await writing.value
        #expect(count > 0)
        let target = try await InfrastructureFactory(configurable: Providers.all).make(
            try InfrastructureConfiguration(contentsOf: folder.appendingPathComponent("new.json")))
        let project = try await target.actingAsProject()
        try await eventually("everything is on the new side") {
            try await project.storage.document("counters/c")["n"]?.integerValue == count
        }
        #expect(try await project.files.data(at: "photos/a.png") == Data("a picture".utf8))
        #expect(try await process?.value == .success)
        await backend.shutDown()
        await target.shutDown()
        await firebase.stop()
        await supabase.stop()
    }

    /// The lines of the article's blocks of commands.
    private func commands() throws -> [[String]] {
        let article = Article.root.appendingPathComponent(
            "Sources/SwitchyardMove/Documentation.docc/MovingWhileEverythingRuns.md")
        var commands: [[String]] = []
        var isOpen = false
        for line in try String(contentsOf: article, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("```") {
                isOpen = line == "```sh"
            } else if isOpen {
                commands.append(line.split(separator: " ").map(String.init))
            }
        }
        return commands
    }
}

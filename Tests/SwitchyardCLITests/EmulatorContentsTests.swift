import Foundation
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardCLI

/// What a local server begins with, what it keeps, and what it prints meanwhile.
@Suite struct EmulatorContentsTests {
    private static let documents = "/v1/projects/demo-switchyard/databases/(default)/documents"
    private static let owner: HTTPHeaders = ["Authorization": "Bearer owner"]

    private func send(_ method: HTTPMethod, _ url: String, _ body: JSON? = nil) async throws -> HTTPResponse {
        let transport = CurlTransport()
        let response = try await transport.send(
            HTTPRequest(method, url, headers: Self.owner, body: body.map { $0.bytes() } ?? []))
        await transport.shutDown()
        return response
    }

    @Test func `A local Firebase goes on with what an earlier one has exported, and begins with the faults of a file`()
        async throws
    {
        let folder = try ToolFolder()
        let archive = folder.path("archive")
        let first = try ToolRun(["emulator", "firebase", "--export", archive, "--log", "--no-page"])
        var host = try #require(
            try await first.variables(with: "FIREBASE_AUTH_EMULATOR_HOST")["FIREBASE_AUTH_EMULATOR_HOST"])
        let address = "http://\(host)\(Self.documents)/notes/a"
        #expect(try await send(.patch, address, ["fields": ["text": ["stringValue": "kept"]]]).status == 200)
        let account: JSON = ["email": "ann@example.com", "password": "secret"]
        let signUp = "http://\(host)/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any"
        #expect(try await send(.post, signUp, account).status == 200)
        try await first.prints("firebase 200 project ")
        #expect(first.output.includes("notes/a") && !first.output.includes("secret"), "\(first.output)")
        #expect(try await first.end() == 0)
        #expect(first.output.includes("Exported from the local firebase to \(archive): "), "\(first.output)")

        let faults = folder.path("faults.json")
        try #"[{"fault": "answer", "status": 503, "path": "/v1/{rest...}", "times": 1}]"#.write(
            toFile: faults, atomically: true, encoding: .utf8)
        let second = try ToolRun(
            ["emulator", "firebase", "--import", archive, "--export", archive, "--faults", faults, "--no-page"])
        host = try #require(
            try await second.variables(with: "FIREBASE_AUTH_EMULATOR_HOST")["FIREBASE_AUTH_EMULATOR_HOST"])
        #expect(second.output.includes("Imported into the local firebase from \(archive): "))
        let again = "http://\(host)\(Self.documents)/notes/a"
        #expect(try await send(.get, again).status == 503, "the fault is there once")
        let read = try await send(.get, again)
        #expect(try JSON(parsing: read.body)["fields"]?["text"]?["stringValue"] == "kept")
        let known = try await send(
            .post, "http://\(host)/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any", account)
        #expect(known.status == 400, "the account has come along")
        #expect(try await send(.delete, again).status == 200)
        #expect(try await second.end() == 0)
        let lines = try String(contentsOfFile: archive + "/archive.json", encoding: .utf8)
        #expect(lines.includes("switchyard-archive"))
        #expect(!FileManager.default.fileExists(atPath: archive + "/documents/notes/1.jsonl"))
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `A local Supabase begins with what a local Firebase has exported`() async throws {
        let folder = try ToolFolder()
        let (archive, other) = (folder.path("archive"), folder.path("other"))
        let first = try ToolRun(["emulator", "firebase", "--export", archive, "--no-page"])
        let host = try #require(
            try await first.variables(with: "FIREBASE_AUTH_EMULATOR_HOST")["FIREBASE_AUTH_EMULATOR_HOST"])
        let address = "http://\(host)\(Self.documents)/notes/a"
        #expect(try await send(.patch, address, ["fields": ["text": ["stringValue": "kept"]]]).status == 200)
        #expect(try await first.end() == 0)
        let second = try ToolRun([
            "emulator", "supabase", "--bucket", "files", "--import", archive, "--export", other, "--no-page",
        ])
        _ = try await second.variables(with: "SUPABASE_URL")
        #expect(try await second.end() == 0)
        #expect(second.output.contains("Imported into the local supabase from \(archive): "), "\(second.output)")
        let files = FileManager.default.enumerator(atPath: other)?.compactMap { $0 as? String } ?? []
        let notes = try files.filter { $0.hasPrefix("documents/notes/") }.map {
            try String(contentsOfFile: "\(other)/\($0)", encoding: .utf8)
        }
        #expect(notes.joined().contains("kept"), "\(files)")
    }

    @Test func `What cannot be read is said before anything starts`() async throws {
        let folder = try ToolFolder()
        let file = folder.path("faults.json")
        func refusal(_ words: String...) async throws -> String {
            let run = try ToolRun(["emulator", "firebase"] + words)
            #expect(try await run.status() == ExitStatus.usage.rawValue)
            return run.errors
        }
        #expect(try await refusal("--import", folder.url.path).includes("has no archive"))
        #expect(try await refusal("--export", folder.url.path).includes("is there and is no archive"))
        #expect(try await refusal("--faults", file).includes("cannot be read"))
        try "nonsense".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await refusal("--faults", file).includes("has no JSON list of faults"))
        try #"[{"fault": "answer"}, {"fault": "explode"}]"#.write(toFile: file, atomically: true, encoding: .utf8)
        let wrong = try await refusal("--faults", file)
        #expect(wrong.includes("fault 2 in “\(file)” cannot be used"), "\(wrong)")
    }
}

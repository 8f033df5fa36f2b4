import Foundation
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// `switchyard doctor` as a process.
@Suite struct DoctorCommandTests {
    @Test func `It prints a line for each check, and says what stays behind`() async throws {
        let run = try ToolRun(["doctor"], environment: ["SWITCHYARD_DEFAULT": "mock"])
        #expect(try await run.status() == 0)
        #expect(run.errors.isEmpty && !run.output.contains("\u{1B}"))
        for check in ["✓ configuration   mock", "✓ write", "✓ stream", "✓ clean-up        nothing stays behind"] {
            #expect(run.output.contains(check), "\(run.output)")
        }
        #expect(run.lines.last?.hasSuffix("0 to change") == true)
    }

    @Test func `In JSON, each line is a check`() async throws {
        let run = try ToolRun(["doctor", "--json"], environment: ["SWITCHYARD_DEFAULT": "mock"])
        #expect(try await run.status() == 0)
        for line in run.lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            #expect(object?["check"] != nil && ["fine", "remark", "wrong"].contains(object?["mark"] ?? ""))
        }
    }

    @Test func `Something to change is a failure, with the cure below it; colours are for terminals`() async throws {
        let firebase = try LocalFirebase()
        let host = firebase.host
        await firebase.stop()
        let folder = try ToolFolder(
            """
            {"default":"firebase","clients":{"files":"none","messaging":"none"},"providers":{"firebase":{"project":"demo-switchyard",
             "apiKey":"any","emulators":{"auth":"\(host)","firestore":"\(host)"}}}}
            """)
        let run = try await folder.run("doctor")
        #expect(try await run.status() == 1)
        #expect(
            run.output.contains("✗ address") && run.output.contains("→ start the local server: switchyard emulator"))
        let shown = try folder.start(["doctor"], environment: ["NO_COLOR": ""], columns: 80)
        #expect(try await shown.status() == 1)
        #expect(shown.output.contains("\u{1B}[31m✗\u{1B}[0m address"))
        let plain = try folder.start(["doctor"], environment: ["NO_COLOR": "1"], columns: 80)
        #expect(try await plain.status() == 1 && !plain.output.contains("\u{1B}[31m"))
        let broken = try await ToolFolder("{").run("doctor")
        #expect(try await broken.status() == 1 && broken.output.hasPrefix("✗ configuration"))
    }

    @Test func `Read-only, it leaves no trace in the mock's folder`() async throws {
        let folder = try ToolFolder()
        let run = try await folder.run("doctor", "--read-only")
        #expect(try await run.status() == 0 && run.output.contains("left out"))
        try await folder.run("doctor")
        #expect(try await folder.run("ls", "--collections").output.isEmpty)
        #expect(try await folder.run("ls").output.isEmpty)
    }

    @Test func `Ctrl-C cleans up`() async throws {
        var options = LocalFirebaseOptions()
        options.allowsEverything = true
        let firebase = try LocalFirebase(options)
        // Every request is held up, so that it is still in the middle.
        firebase.faults.add(.delayAnswer(.milliseconds(300)), times: nil)
        let folder = try ToolFolder(
            """
            {"default":"firebase","clients":{"files":"none","messaging":"none"},"providers":{"firebase":{"project":"demo-switchyard",
             "apiKey":"any","emulators":{"auth":"\(firebase.host)","firestore":"\(firebase.host)"}}}}
            """)
        let run = try folder.start(["doctor"])
        try await run.prints("accounts")
        run.interrupt()
        #expect(try await run.status() == 130)
        #expect(run.output.contains("clean-up        nothing stays behind"), "\(run.output)\(run.errors)")
        await firebase.stop()
    }
}

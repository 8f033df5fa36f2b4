import Foundation
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// The commands for daily work, each as a process: what they print, where, and how they end.
@Suite struct DailyCommandTests {
    private static let alice = #"{"name":"Alice","age":36,"tags":["new"]}"#

    @Test func `Documents are written, read, changed, counted, queried and deleted`() async throws {
        let folder = try ToolFolder()
        #expect(try await folder.run("set", "users/alice", Self.alice).status() == 0)
        #expect(try await folder.run("set", "users/bob", input: #"{"name":"Bob","age":12}"#).status() == 0)
        let typed = try await folder.run("get", "users/alice")
        #expect(typed.output.hasPrefix(#"{"path":"users/alice","created":{"seconds":"#))
        #expect(
            typed.output.hasSuffix(
                #""data":{"age":{"integer":36},"name":{"string":"Alice"},"tags":{"array":[{"string":"new"}]}}}"# + "\n")
        )

        try await folder.run("merge", "users/alice", #"{"address":{"city":"Ulm"}}"#)
        try await folder.run("update", "users/alice", #"{"age":{"increment":1},"address.zip":"89073"}"#)
        let plain = try await folder.run("get", "--plain", "users/alice")
        #expect(
            plain.output.contains(
                #""data":{"address":{"city":"Ulm","zip":"89073"},"age":37,"name":"Alice","tags":["new"]}"#))

        let found = try await folder.run("query", "where age > 17 and tags includes 'new' order by age", "users")
        #expect(found.lines.count == 1 && found.output.contains("users/alice"))
        #expect(try await folder.run("query", "users").lines.count == 2)
        #expect(try await folder.run("query", "--group", "order by age desc limit 1", "users").output.contains("alice"))
        #expect(try await folder.run("count", "users").output == "2\n")
        #expect(try await folder.run("count", "--sum", "age", "users", "--json").output == "{\"sum\":49}\n")
        #expect(try await folder.run("ls", "--collections").output == "users\n")

        let missing = try await folder.run("get", "users/alice", "users/x")
        #expect(try await missing.status() == 1 && missing.lines.count == 1)
        #expect(missing.errors == "switchyard get: there is no document “users/x”\n")
        #expect(try await folder.run("update", "users/x", "{\"a\":1}").status() == 1)

        try await folder.run("set", "users/alice/notes/1", "{}")
        try await folder.run("delete", "users/bob")
        let asked = try await folder.run("delete", "--recursive", "users/alice", input: "no\n")
        #expect(try await asked.status() == 1 && asked.errors.contains("nothing was deleted"))
        let deleted = try await folder.run("delete", "--recursive", "--yes", "users/alice")
        #expect(deleted.output == "Deleted 2 documents.\n")
        #expect(try await folder.run("query", "users").output.isEmpty)
    }

    @Test func `What one backend prints, another takes`() async throws {
        let (one, other) = (try ToolFolder(), try ToolFolder())
        let lines = (1...250).map {
            #"{"path":"things/\#($0)","data":{"n":{"integer":\#($0)},"at":{"timestamp":"2026-05-01"}}}"#
        }
        let first = try await one.run("set", input: lines.joined(separator: "\n"))
        #expect(try await first.status() == 0 && first.errors.contains("wrote 250 documents"))
        let printed = try await one.run("query", "things").output
        #expect(try await other.run("set", input: printed).status() == 0)
        let again = try await other.run("query", "--plain", "things").lines
        #expect(again.count == 250 && again.allSatisfy { $0.contains(#""at":"2026-05-01T00:00:00Z""#) })
        let wrong = try await other.run("set", input: lines[0] + "\nnonsense\n")
        #expect(try await wrong.status() == 2)
        #expect(wrong.errors.contains("line 2 of the standard input is no document"))
    }

    @Test(arguments: [
        ("{\"a\":", "that is not JSON"), ("[1]", "a document is an object"), ("", "there is no JSON"),
        (#"{"a":{"integer":"x"}}"#, "At “a.integer”: expected a whole number"),
    ])
    func `JSON that is no document is a mistake of the command line`(_ json: String, _ words: String) async throws {
        let run = try await ToolFolder().run("set", "users/a", input: json)
        #expect(try await run.status() == 2)
        #expect(run.errors.contains(words) && run.output.isEmpty, "\(run.errors)")
    }

    @Test func `Changes are printed as they happen, and Ctrl-C ends that well`() async throws {
        let firebase = try LocalFirebase(Self.open)
        let folder = try ToolFolder(Self.configuration(firebase))
        let watch = try folder.start(["watch", "where n > 0", "things"])
        try await watch.prints(#"{"change":"current"}"#)
        try await folder.run("set", "things/1", #"{"n":1}"#)
        try await watch.prints(#"{"change":"added","document":{"path":"things/1""#)
        try await folder.run("set", "things/1", #"{"n":2}"#)
        try await watch.prints(#"{"change":"modified""#)
        try await folder.run("delete", "things/1")
        try await watch.prints(#"{"change":"removed""#)
        watch.interrupt()
        #expect(try await watch.status() == 0)
        #expect(watch.errors.isEmpty, "\(watch.errors)")

        let document = try folder.start(["watch", "things/2", "--plain", "--count", "2"])
        try await document.prints("current")
        try await folder.run("set", "things/2", #"{"n":1}"#)
        #expect(try await document.status() == 0)
        #expect(document.lines.count == 2 && document.lines[1].contains(#""data":{"n":1}"#))
        await firebase.stop()
    }

    @Test func `A reader that has read enough is no error`() async throws {
        let folder = try ToolFolder()
        let lines = (1...2000).map {
            #"{"path":"things/\#($0)","data":{"text":"\#(String(repeating: "x", count: 200))"}}"#
        }
        try await folder.run("set", input: lines.joined(separator: "\n"))
        let pipe = Pipe()
        let run = try folder.start(["query", "things"], output: pipe.fileHandleForWriting)
        try pipe.fileHandleForWriting.close()
        _ = try pipe.fileHandleForReading.read(upToCount: 100)
        try pipe.fileHandleForReading.close()
        #expect(try await run.status() == 0)
        #expect(run.errors.isEmpty)
    }

    // MARK: Files

    @Test func `Files go up and down, and are listed`() async throws {
        let folder = try ToolFolder()
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.path("a.txt")))
        #expect(try await folder.run("upload", "a.txt", "docs/").status() == 0)
        let stored = try await folder.run(
            "upload", "-", "docs/b.bin", "--type", "text/x", "--json", input: "from a pipe")
        #expect(stored.output.hasPrefix(#"{"path":"docs/b.bin","size":11,"contentType":"text/x""#))
        #expect(try await folder.run("upload", "a.txt", "docs/a.txt", "--new").status() == 1)
        #expect(try await folder.run("ls").output == "docs/\n")
        #expect(try await folder.run("ls", "docs/").output == "docs/a.txt\ndocs/b.bin\n")
        #expect(try await folder.run("download", "docs/b.bin", "-").output == "from a pipe")
        #expect(try await folder.run("download", "docs/a.txt", "copy.txt").status() == 0)
        #expect(try String(contentsOfFile: folder.path("copy.txt"), encoding: .utf8) == "hello")
        let missing = try await folder.run("download", "docs/c", "c.txt")
        #expect(try await missing.status() == 1 && missing.errors.hasPrefix("switchyard download: "))
        #expect(!FileManager.default.fileExists(atPath: folder.path("c.txt")))
        #expect(try await folder.run("upload", "nowhere.txt", "x").status() == 1)
    }

    @Test func `A folder that may not be written is named`() async throws {
        let folder = try ToolFolder()
        try await folder.run("upload", "-", "a.txt", input: "x")
        let run = try await folder.run("download", "a.txt", "/proc/a.txt")
        #expect(try await run.status() == 1)
        #expect(run.errors.contains("/proc/a.txt"), "\(run.errors)")
    }

    @Test func `Ctrl-C cancels a transfer, and nothing of it stays`() async throws {
        let firebase = try LocalFirebase(Self.open)
        let folder = try ToolFolder(Self.configuration(firebase))
        let size = 20 << 20
        try Data(count: size).write(to: URL(fileURLWithPath: folder.path("large.bin")))
        #expect(try await folder.run("upload", "large.bin", "whole.bin").status() == 0)

        let gate = Gate()
        let rule = firebase.faults.add(.holdAnswer(gate), times: nil)
        let upload = try folder.start(["upload", "large.bin", "part.bin"])
        try await eventually("a request is held up") { firebase.faults.strikes(of: rule) > 0 }
        upload.interrupt()
        firebase.faults.removeAll()
        gate.open()
        #expect(try await upload.status() == 130)
        #expect(upload.errors.isEmpty, "\(upload.errors)")
        #expect(try await folder.run("ls").output == "whole.bin\n")

        let second = Gate()
        let held = firebase.faults.add(.holdAnswer(second), times: nil)
        let download = try folder.start(["download", "whole.bin", "copy.bin"])
        try await eventually("a request is held up") { firebase.faults.strikes(of: held) > 0 }
        download.interrupt()
        firebase.faults.removeAll()
        second.open()
        #expect(try await download.status() == 130)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(left == ["backend.json", "large.bin"])
        await firebase.stop()
    }

    @Test func `A terminal shows how far a transfer is, with rate and time left, and then nothing of it`() async throws
    {
        let firebase = try LocalFirebase(Self.open)
        let folder = try ToolFolder(Self.configuration(firebase))
        try Data(count: 6 << 20).write(to: URL(fileURLWithPath: folder.path("large.bin")))
        // Slower than a second, whatever the machine.
        firebase.faults.add(.delayAnswer(.milliseconds(700)), times: nil)
        let run = try folder.start(["upload", "large.bin", "x.bin"], columns: 60)
        #expect(try await run.status() == 0)
        let shown = run.output.components(separatedBy: "\r\u{1B}[K")
        #expect(shown.contains { $0.contains("% ") && $0.contains("MB/s") }, "\(run.output)")
        #expect(shown.allSatisfy { $0.count < 60 } && shown.last == "")
        let quiet = try await folder.run("upload", "large.bin", "y.bin")
        #expect(try await quiet.status() == 0 && quiet.errors.isEmpty && quiet.output.isEmpty)
        await firebase.stop()
    }

    // MARK: People

    private static var open: LocalFirebaseOptions {
        var options = LocalFirebaseOptions()
        options.allowsEverything = true
        return options
    }

    private static func configuration(_ firebase: LocalFirebase) -> String {
        """
        {"default":"firebase","clients":{"messaging":"none"},"providers":{"firebase":{"project":"\(firebase.project)",
         "apiKey":"any","bucket":"\(firebase.project).appspot.com","emulators":{"auth":"\(firebase.host)",
         "firestore":"\(firebase.host)","storage":"\(firebase.host)"}}}}
        """
    }

    @Test func `Who signs in stays signed in for later commands, until they sign out`() async throws {
        let firebase = try LocalFirebase()
        let folder = try ToolFolder(Self.configuration(firebase))
        let state = ["--state", folder.path("state")]
        func run(_ words: String..., input: String = "", password: String? = nil) async throws -> ToolRun {
            let run = try folder.start(
                words + state, input: input, environment: password.map { ["SWITCHYARD_PASSWORD": $0] } ?? [:])
            try await run.status()
            return run
        }
        #expect(try await run("whoami").status() == 1)
        let new = try await run("sign-in", "ann@example.com", "--new", input: "correct horse\n")
        #expect(new.output.hasPrefix("Signed in as ann@example.com ("), "\(new.errors)")
        let who = try await run("whoami", "--json")
        #expect(who.output.contains(#""email":"ann@example.com""#) && who.output.contains(#""provider":"firebase""#))
        // The rules let only a user write below users/ID.
        let object = try JSONSerialization.jsonObject(with: Data(who.output.utf8)) as? [String: Any]
        let id = try #require(object?["id"] as? String)
        #expect(try await run("set", "users/\(id)", "{}").status() == 0)
        #expect(try await folder.run("set", "users/\(id)", "{}").status() == 1)
        #expect(try await run("sign-out").output.hasPrefix("Signed out ann@example.com"))
        #expect(try await run("whoami").errors.contains("no one is signed in"))
        #expect(try await run("sign-out").status() == 1)

        let wrong = try await run("sign-in", "ann@example.com", password: "guess")
        #expect(try await wrong.status() == 1 && wrong.errors.hasPrefix("switchyard sign-in: "))
        #expect(try await run("sign-in", "ann@example.com", password: "correct horse").status() == 0)
        #expect(try await run("sign-in", "ann@example.com").status() == 2)
        #expect(try await run("sign-in", "--anonymous").output.hasPrefix("Signed in as an anonymous user ("))
        let nowhere = try await folder.run("sign-in", "--anonymous")
        #expect(try await nowhere.status() == 2 && nowhere.errors.contains("there is no state folder"))
        await firebase.stop()
    }

    @Test func `A terminal asks for the password and does not show it; Ctrl-C leaves the terminal as it was`()
        async throws
    {
        let firebase = try LocalFirebase()
        let folder = try ToolFolder(Self.configuration(firebase))
        let words = ["sign-in", "ann@example.com", "--new", "--state", folder.path("state")]
        let run = try folder.start(words, columns: 80)
        try await run.prints("Password: ")
        try run.type("corrext\u{7F}\u{7F}ct horse\r")
        #expect(try await run.status() == 0)
        #expect(run.output.contains("Signed in as") && !run.output.contains("horse"), "\(run.output)")
        let again = try folder.start(["sign-in", "ann@example.com", "--state", folder.path("state")], columns: 80)
        try await again.prints("Password: ")
        try again.type("secr\u{3}")
        #expect(try await again.status() == 130)
        #expect(!again.output.contains("secr"))
        let right = try await folder.run(
            "sign-in", "ann@example.com", "--state", folder.path("state"), input: "correct horse\n")
        #expect(try await right.status() == 0)
        await firebase.stop()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `With a project credential, a command acts past all rules; without one, it says what is missing`() async throws
    {
        var options = LocalSupabaseOptions()
        options.scripts = [DocumentSchema.sql]
        let supabase = try await LocalSupabase.onSharedPostgres(options)
        func folder(_ more: String) throws -> ToolFolder {
            try ToolFolder(
                """
                {"default":"supabase","clients":{"files":"none","messaging":"none"},"providers":{"supabase":{
                 "url":"\(supabase.server.url)","key":"\(supabase.anonKey)"\(more)}}}
                """)
        }
        let bare = try folder("")
        let project = try folder(#","serviceKey":"\#(supabase.serviceKey)""#)
        #expect(try await project.run("set", "users/someone", Self.alice, "--as-project").status() == 0)
        #expect(try await project.run("count", "users", "--as-project").output == "1\n")
        let watch = try project.start(["watch", "users/someone", "--as-project", "--count", "1"])
        #expect(try await watch.status() == 0 && watch.output.contains(#""change":"added""#), "\(watch.errors)")
        #expect(try await bare.run("get", "users/someone").status() == 1)
        let refused = try await bare.run("get", "users/someone", "--as-project")
        #expect(try await refused.status() == 2 && refused.errors.contains("serviceKey"), "\(refused.errors)")
        #expect(try await project.run("delete", "users/someone", "--as-project").status() == 0)
        await supabase.stop()
    }

    // MARK: Writes that wait

    @Test func `Writes wait in the state folder while there is no server, and are listed, dropped and sent`()
        async throws
    {
        var options = Self.open
        let firebase = try LocalFirebase(options)
        let folder = try ToolFolder(Self.configuration(firebase))
        options.port = firebase.port
        await firebase.stop()
        let state = ["--state", folder.path("state")]
        func run(_ words: String...) async throws -> ToolRun {
            let run = try folder.start(words + state)
            try await run.status()
            return run
        }
        for name in ["a", "b"] {
            let written = try await run("set", "things/\(name)", "{}", "--wait", "0")
            #expect(try await written.status() == 1)
            #expect(written.errors.contains("“things/\(name)” is waiting"), "\(written.errors)")
        }
        let list = try await run("queue", "list", "--json")
        #expect(list.lines.count == 2, "\(list.errors)")
        #expect(list.lines.allSatisfy { $0.contains(#""state":"waiting""#) })
        let first = try JSONSerialization.jsonObject(with: Data(list.lines[0].utf8)) as? [String: Any]
        let id = try #require(first?["id"] as? String)
        #expect(first?["writes"] as? [String] == ["set things/a (0 fields)"])
        let unknown = try await run("queue", "drop", id + "x")
        #expect(try await unknown.status() == 1 && unknown.errors.contains("Did you mean “\(id)”?"))
        #expect(try await run("queue", "drop", id).output == "Dropped 1 write.\n")
        #expect(try await run("queue", "retry", "--wait", "0").status() == 1)

        let back = try LocalFirebase(options)
        // Listing alone sends nothing.
        #expect(try await run("queue", "list").output.contains("set things/b"))
        #expect(try await run("queue", "list").lines.count == 1)
        let sent = try await run("queue", "retry")
        #expect(sent.output == "No writes wait.\n", "\(sent.errors)")
        #expect(try await folder.run("query", "things").output.contains("things/b"))
        #expect(try await folder.run("count", "things").output == "1\n")
        #expect(try await folder.run("queue", "list").status() == 2)
        await back.stop()
    }

    @Test func `A rejected write is kept, with the reason, until it is dropped or sent again`() async throws {
        let firebase = try LocalFirebase()
        let folder = try ToolFolder(Self.configuration(firebase))
        let state = ["--state", folder.path("state")]
        func run(_ words: String...) async throws -> ToolRun {
            let run = try folder.start(words + state)
            try await run.status()
            return run
        }
        let written = try await run("set", "users/someone", "{}")
        #expect(
            try await written.status() == 1 && written.errors.contains("rules do not allow it"), "\(written.errors)")
        let list = try await run("queue", "list", "--json")
        #expect(list.output.contains(#""state":"rejected""#) && list.output.contains(#""code":"unauthorized""#))
        let object = try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [String: Any]
        let id = try #require(object?["id"] as? String)
        let again = try await run("queue", "retry", id)
        #expect(try await again.status() == 1 && again.errors.contains("is rejected"))
        #expect(try await run("queue", "drop", "--rejected").output == "Dropped 1 write.\n")
        #expect(try await run("queue", "list").output == "No writes wait.\n")
        await firebase.stop()
    }

    // MARK: What is wrong

    @Test func `A backend that is not named, not readable or wrong is a mistake of the command line`() async throws {
        let bare = try ToolRun(["query", "users"])
        #expect(try await bare.status() == 2 && bare.errors.contains("No backend is named. Pass “--config FILE”"))
        let missing = try ToolRun(["query", "users", "--config", "/no/such.json"])
        #expect(try await missing.status() == 2 && missing.errors.contains("There is no configuration file"))
        let broken = try await ToolFolder("{").run("query", "users")
        #expect(try await broken.status() == 2 && broken.errors.contains("not valid JSON"))
        let unknown = try await ToolFolder(#"{"default":"mok"}"#).run("query", "users")
        #expect(try await unknown.status() == 2 && unknown.errors.contains("Did you mean “mock”?"))
        let variables = try ToolRun(["count", "users"], environment: ["SWITCHYARD_DEFAULT": "mock"])
        #expect(try await variables.status() == 0 && variables.output == "0\n")
    }

    @Test func `Two commands that need the same folder do not share it, and the second one says so`() async throws {
        let folder = try ToolFolder()
        let watch = try folder.start(["watch", "users"])
        try await watch.prints("current")
        let second = try await folder.run("query", "users")
        #expect(try await second.status() == 1 && second.errors.contains("is in use by another process"))
        watch.interrupt()
        #expect(try await watch.status() == 0)
    }

    @Test func `A busy port is named`() async throws {
        let firebase = try LocalFirebase()
        let run = try ToolRun(["emulator", "firebase", "--port", "\(firebase.port)"])
        #expect(try await run.status() == 1)
        #expect(run.errors.contains("\(firebase.port)"), "\(run.errors)")
        await firebase.stop()
    }
}

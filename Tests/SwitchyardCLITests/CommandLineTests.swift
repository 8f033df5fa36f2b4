import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import Testing

@testable import SwitchyardCLI

/// What a new user types, and the answers.
@Suite struct CommandLineTests {
    @Test(arguments: [
        (
            ["conformnce"],
            [
                "there is no command “conformnce”",
                "doctor, types, conformance, firebase, supabase, adapter, move, emulator, page, demo, version",
                "Did you mean “conformance”?",
            ]
        ),
        (["--version"], ["there is no command “--version”"]),
        (["conformance", "--confg", "x"], ["there is no option “--confg”", "Did you mean “--config”?"]),
        (["conformance", "--config"], ["“--config” needs a value"]),
        (["conformance", "--config", "--json"], ["“--config” needs a value"]),
        (["conformance", "--json", "--json=1"], ["“--json” takes no value"]),
        (["conformance", "--client", "storge"], ["there is no client “storge”", "Did you mean “storage”?"]),
        (["conformance", "--client", "auth", "--client", "auth"], ["“--client” is given twice"]),
        (["conformance", "file.json"], ["“file.json” was not expected here"]),
        (["emulator"], ["Use “firebase”, “supabase” or “all”"]),
        (["emulator", "supabse"], ["there is no emulator “supabse”"]),
        (["emulator", "supabase", "--port", "many"], ["“many” is not a port"]),
        (["emulator", "firebase", "--claims", "role"], ["“role” is not a claim", "--claims role=authenticated"]),
        (["emulator", "firebase", "--bucket", "files"], ["there is no option “--bucket”"]),
        (["emulator", "firebase", "--open=yes"], ["“--open” takes no value"]),
        (["emulator", "supabase", "--trust-firebase"], ["“--trust-firebase” needs a value"]),
        (["emulator", "firebase", "--project", "a b"], ["“a b” is not a project"]),
        (["emulator", "supabase", "--schemas", "public,a;b"], ["“a;b” in “--schemas” is not a name"]),
        (["emulator", "supabase", "--trust-firebas", "x"], ["Did you mean “--trust-firebase”?"]),
        (["emulator", "supabase", "--bucket", "--open"], ["“--bucket” needs a value"]),
        (["emulator", "all", "--trust-firebase", "x"], ["there is no option “--trust-firebase”"]),
        (["emulator", "supabase", "--project", "x"], ["there is no option “--project”"]),
        (["emulator", "supabase", "--database", "postgresql://db.example.com/x"], ["on this machine"]),
        (["firebase"], ["missing subcommand: “firebase rules”"]),
        (["firebase", "rules", "--x"], ["takes no options"]),
        (["supabase"], ["missing subcommand: “supabase install”"]),
        (["supabase", "instal"], ["there is no “supabase instal”"]),
        (["supabase", "uninstall"], ["“supabase uninstall” needs either “--print” or “--database”"]),
        (["supabase", "uninstall", "--anon", "--print"], ["there is no option “--anon”"]),
        (["supabase", "install", "--message", "--print"], ["Did you mean “--messages”?"]),
        (["supabase", "install"], ["needs one of “--print”, “--database” and “--explain”"]),
        (["supabase", "install", "--editor"], ["“--editor” goes with “--print”"]),
        (["supabase", "install", "--print", "--database", "postgresql:///x"], ["needs one of “--print”"]),
        (["supabase", "install", "--explain", "--editor"], ["“--explain” installs nothing; leave out"]),
        (["supabase", "install", "--database", "mysql://x"], ["postgresql://postgres@127.0.0.1:5432/postgres"]),
        (["supabase", "install", "--database", "postgresql://u:secret@127.0.0.1/x"], ["--print | psql"]),
        (["supabase", "install", "--database", "postgresql://db.example.com/x"], ["on this machine"]),
        (["supabase", "install", "--database", "postgresql://127.0.0.1:0/x"], ["names no port"]),
        (["adapter", "vapour"], ["there is no adapter “vapour”", "Did you mean “vapor”?"]),
        (["adapter", "--output", "x"], ["“adapter” needs a name: dependencies, sharing"]),
        (["adapter", "log", "metrics"], ["“metrics” was not expected here"]),
        (["adapter", "log", "--output"], ["“--output” needs a value"]),
        (["adapter", "log", "--ouput", "x"], ["Did you mean “--output”?"]),
        (["move"], ["missing subcommand: “move plan”, “move run”"]),
        (["move", "plam"], ["there is no “move” subcommand “plam”", "Did you mean “plan”?"]),
        (["move", "plan"], ["“move plan” needs “--from”"]),
        (["move", "plan", "--from", "/nowhere.json", "--to", "x"], ["“/nowhere.json” does not exist", "an archive"]),
        (["move", "run", "--from", "/", "--to", "/"], ["“move run” needs “--journal FOLDER”"]),
        (["move", "run", "--from", "/", "--to", "/", "--throttle", "fast"], ["--journal"]),
        (["move", "export", "--from", "/", "--to", "/"], ["“move export” reads a backend"]),
        (["move", "plan", "--from", "/", "--to", "/", "--repair"], ["there is no option “--repair”"]),
        (["demo", "now"], ["“now” was not expected here"]),
        (["get"], ["“get” needs PATH: switchyard get PATH…"]),
        (["get", "users"], ["“users” is not a document path"]),
        (["query"], ["“query” needs COLLECTION"]),
        (["query", "where age > 17"], ["the collection is missing after the query “where age > 17”"]),
        (["query", "where age > and x = 1", "users"], ["“and” is no value", "\n            ^^^"]),
        (["query", "limit 0", "users"], ["between 1 and", "\n^^^^^^^"]),
        (["count", "users", "--sum", "a..b"], ["empty name"]),
        (["set", "users/a", "{}", "more"], ["“more” was not expected here"]),
        (["set", "users/a", "--wait", "soon"], ["“soon” is no number for “--wait”"]),
        (["delete", "users/a", "--yes"], ["“--yes” goes with “--recursive”"]),
        (["upload", "a"], ["“upload” needs PATH"]),
        (["download", "a", "-", "--json"], ["download to a file"]),
        (["sign-in"], ["either EMAIL or “--anonymous”"]),
        (["sign-in", "--anonymous", "--new"], ["“--new” goes with EMAIL"]),
        (["queue"], ["missing subcommand: “queue list”"]),
        (["queue", "lst"], ["there is no “queue” subcommand “lst”", "Did you mean “list”?"]),
        (["queue", "drop"], ["needs either the writes' ID"]),
        (["completions", "zhs"], ["there is no shell “zhs”", "Did you mean “zsh”?"]),
        (["version", "now"], ["“now” was not expected here"]),
        (["help", "conformence"], ["there is no command “conformence”", "Did you mean “conformance”?"]),
        (["help", "demo", "help"], ["“help” takes the name of one command"]),
    ])
    func `A command line that is not understood gets an answer with what was wrong and what there is`(
        words: [String], says: [String]
    ) async throws {
        let error = await #expect(throws: UsageError.self) { _ = try await CommandLineTool.run(words) }
        for text in says { #expect(error?.message.contains(text) == true, "\(error?.message ?? "")") }
    }

    @Test func `Help is an answer, nothing at all is not`() async throws {
        #expect(try await CommandLineTool.run(["help"]) == .success)
        #expect(try await CommandLineTool.run(["help", "conformance"]) == .success)
        #expect(try await CommandLineTool.run(["conformance", "--help"]) == .success)
        #expect(try await CommandLineTool.run([]) == .usage)
        let help = HelpText.command(Commands.named("conformance"), width: 100)
        for service in ConformanceService.allCases { #expect(help.contains(service.rawValue)) }
    }

    @Test(.enabled(if: FileHandle(forWritingAtPath: "/dev/full") != nil, "there is no /dev/full"))
    func `Output that cannot be written does not end the program`() async throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        #expect(try await ToolRun(["help"], output: full).status() == ExitStatus.success.rawValue)
    }

    @Test func `Local servers are as open as they are asked to be, and no more`() throws {
        let bare = try EmulatorCommand(["supabase"])
        #expect(bare.supabase?.buckets == [] && bare.supabase?.allowsEverything == false && bare.trusted == nil)
        #expect(bare.firebase == nil)
        let given = try EmulatorCommand([
            "supabase", "--bucket", "files,photos", "--open", "--trust-firebase", "http://127.0.0.1:9099",
        ])
        #expect(given.supabase?.buckets == ["files", "photos"] && given.supabase?.allowsEverything == true)
        #expect(given.trusted == "http://127.0.0.1:9099")
        let firebase = try EmulatorCommand(["firebase", "--open"])
        #expect(firebase.firebase?.allowsEverything == true && firebase.firebase?.claims == [:])
        #expect(firebase.supabase == nil)
    }

    @Test func `Pages that may use a local server are named as browsers name them`() throws {
        let all = ["https://app.example.com", "http://10.0.2.2:8080"]
        for name in ["firebase", "supabase", "all"] {
            let command = try EmulatorCommand([name, "--origin", all.joined(separator: ",")])
            if name != "supabase" { #expect(command.firebase?.origins == Set(all)) }
            if name != "firebase" { #expect(command.supabase?.origins == Set(all)) }
            #expect(try EmulatorCommand([name]).firebase?.origins ?? [] == [])
            for wrong in ["*", "app.example.com", "https://app.example.com/path"] {
                #expect(throws: UsageError.self) { try EmulatorCommand([name, "--origin", wrong]) }
            }
        }
    }

    @Test func `Both local servers fit each other without any option, and take those of each`() throws {
        let both = try EmulatorCommand(["all"])
        #expect(both.firebase?.claims == ["role": "authenticated"] && both.firebase?.allowsEverything == false)
        #expect(both.supabase?.buckets == ["files"] && both.supabase?.allowsEverything == false)
        let given = try EmulatorCommand([
            "all", "--open", "--bucket", "photos", "--claims", "plan=free", "--firebase-port", "9099", "--folder",
            "/tmp/x",
        ])
        #expect(given.firebase?.allowsEverything == true && given.supabase?.allowsEverything == true)
        #expect(given.firebase?.claims == ["plan": "free"] && given.supabase?.buckets == ["photos"])
        #expect(given.firebase?.port == 9099 && given.supabase?.port == 0)
        #expect(given.firebase?.folder?.path == "/tmp/x/firebase" && given.supabase?.folder?.path == "/tmp/x/supabase")
    }

    @Test func `A local Supabase whose database does not answer says so and ends`() async throws {
        let words = ["emulator", "supabase", "--database", "postgresql://postgres@127.0.0.1:1/postgres"]
        #expect(try await CommandLineTool.run(words) == .failure)
    }

    @Test func `A database is named by its address, whose parts may be left out`() throws {
        let full = try DatabaseAddress("postgresql://ann@localhost:5433/notes")
        #expect(full.user == "ann" && full.port == 5433 && full.name == "notes")
        let bare = try DatabaseAddress("postgres://")
        #expect(bare.user == "postgres" && bare.port == 5432 && bare.name == "postgres")
    }

    @Test func `A configuration that cannot be read or is wrong ends before any check`() async throws {
        let folder = FileManager.default.temporaryDirectory
        let wrong = folder.appendingPathComponent("wrong-\(UInt64.random(in: 0 ... .max)).json")
        try Data(#"{"default": "mokc"}"#.utf8).write(to: wrong)
        for path in ["/no/such/file.json", folder.path, wrong.path] {
            #expect(try await CommandLineTool.run(["conformance", "--config", path]) == .usage)
        }
        try FileManager.default.removeItem(at: wrong)
    }
}

import Foundation
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// The table of commands, and what is made from it.
@Suite struct CommandTableTests {
    @Test func `Every row belongs to a command, and every command has rows`() {
        for command in Commands.all {
            #expect(Commands.type(command.group) != nil, "\(command.name)")
            #expect(command.summary.hasSuffix(".") && !command.summary.contains("\n"))
            #expect(Set(command.options.map(\.name)).count == command.options.count)
            #expect(command.options.allSatisfy { $0.name.hasPrefix("--") && !$0.summary.isEmpty })
        }
        #expect(Set(Commands.names).count == Commands.names.count)
        #expect(Set(Commands.all.map(\.name)).count == Commands.all.count)
    }

    @Test(arguments: Commands.all.map(\.name))
    func `A command answers --help with all that it takes, and refuses what it does not`(_ name: String) async throws {
        let words = name.split(separator: " ").map(String.init)
        let command = Commands.named(name)
        for asked in [["help"] + words, words + ["--help"], words + ["-h"]] {
            let run = try ToolRun(asked)
            #expect(try await run.status() == 0 && run.errors.isEmpty)
            #expect(run.output.hasPrefix("switchyard \(name)"))
            for option in command.options { #expect(run.output.contains(option.usage), "\(option.name)") }
            for argument in command.arguments { #expect(run.output.contains(argument.name)) }
        }
        let run = try ToolRun(words + ["--nonsense"])
        #expect(try await run.status() == 2)
        #expect(run.output.isEmpty && run.errors.hasPrefix("switchyard: "))
        #expect(run.errors.hasSuffix("Try “switchyard help \(command.group)”.\n"))
        #expect(!run.errors.contains("\u{1B}"))
    }

    @Test func `Without a command, the list is printed, and the status says that something was missing`() async throws {
        let bare = try ToolRun([])
        #expect(try await bare.status() == 2)
        for command in Commands.all { #expect(bare.output.contains("\n  \(command.name) ")) }
        let all = try ToolRun(["help", "--all"])
        #expect(try await all.status() == 0)
        for command in Commands.all { #expect(all.output.contains("switchyard \(command.name)")) }
    }

    @Test(arguments: [20, 40, 72, 200])
    func `Help fits into the terminal`(_ columns: Int) async throws {
        let run = try ToolRun(["help", "watch"], columns: columns)
        #expect(try await run.status() == 0)
        // Examples are to be copied.
        let lines = run.output.split(separator: "\r\n").filter { !$0.hasPrefix("    switchyard ") }
        // A word is never broken, and the column of summaries is 20 wide at least.
        #expect(lines.allSatisfy { $0.count <= max(columns, 44) }, "\(run.output)")
        #expect(lines.count > 10)
    }

    @Test func `The version is printed for people and for programs`() async throws {
        let run = try ToolRun(["version"])
        #expect(try await run.status() == 0 && run.output.hasPrefix("switchyard, \(VersionCommand.version)"))
        let json = try ToolRun(["version", "--json"])
        try await json.status()
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect(object?["version"] as? String == VersionCommand.version)
    }

    // MARK: Completions

    /// What bash offers for the last word of a command line.
    private func offered(_ words: [String]) async throws -> [String] {
        let array = words.map { "'\($0)'" }.joined(separator: " ")
        let program =
            CompletionScript.bash + """

                COMP_WORDS=(\(array)); COMP_CWORD=\(words.count - 1); _switchyard; printf '%s\\n' "${COMPREPLY[@]}"
                """
        let bash = try await TestProgram.finished(["/bin/bash", "-c", program])
        #expect(bash.status == 0, "\(bash.errors)")
        return bash.text.split(separator: "\n").map(String.init)
    }

    private static let bash = FileManager.default.isExecutableFile(atPath: "/bin/bash")

    @Test(.enabled(if: bash, "bash is not installed")) func `bash completes commands, options and values`() async throws
    {
        #expect(try await offered(["switchyard", ""]) == Commands.names)
        #expect(try await offered(["switchyard", "que"]) == ["query", "queue"])
        #expect(try await offered(["switchyard", "supabase", ""]) == ["install", "uninstall"])
        #expect(try await offered(["switchyard", "supabase", "install", "--ed"]) == ["--editor"])
        #expect(try await offered(["switchyard", "query", "users", "--gr"]) == ["--group"])
        #expect(try await offered(["switchyard", "conformance", "--client", "sto"]) == ["storage"])
        #expect(try await offered(["switchyard", "adapter", "va"]) == ["vapor"])
        #expect(try await offered(["switchyard", "get", "--config", "/bin/bas"]).contains("/bin/bash"))
        #expect(try await offered(["switchyard", "help", "doc"]) == ["doctor"])
    }

    @Test(arguments: CompletionsCommand.Shell.names) func `A shell reads its script without a complaint`(
        _ shell: String
    ) async throws {
        let run = try ToolRun(["completions", shell])
        #expect(try await run.status() == 0)
        for command in Commands.all {
            for option in command.options {
                #expect(run.output.contains(shell == "fish" ? "-l \(option.name.dropFirst(2)) " : option.name))
            }
        }
        guard let path = ["/bin/\(shell)", "/usr/bin/\(shell)"].first(where: FileManager.default.isExecutableFile)
        else {
            return
        }
        let read = try await TestProgram.finished([path, "-n", "-c", run.output])
        #expect(read.status == 0, "\(read.errors)")
    }
}

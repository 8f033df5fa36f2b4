import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardMove
import SwitchyardSupabase

/// `switchyard`: the package's command-line tool.
@main
struct CommandLineTool {
    static func main() async {
        Terminal.survivesClosedPipes()
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(UsageError) {
            exit(try await run(arguments).rawValue)
        } catch {
            let command = arguments.first.map { Commands.names.contains($0) ? " \($0)" : "" } ?? ""
            Terminal.error("switchyard: \(error.message)\nTry “switchyard help\(command)”.")
            exit(ExitStatus.usage.rawValue)
        }
    }

    static func run(_ arguments: [String]) async throws(UsageError) -> ExitStatus {
        guard let name = arguments.first else {
            Terminal.print(HelpText.list(width: Terminal.width()))
            return .usage
        }
        let rest = Array(arguments.dropFirst())
        if name == "--help" || name == "-h" { return try HelpCommand(rest).run() }
        guard let type = Commands.type(name) else {
            throw UsageError.unknown("command", name, among: Commands.names)
        }
        let options = rest.prefix { $0 != "--" }
        if options.contains("--help") || options.contains("-h") { return HelpCommand.answer(to: arguments) }
        return await (try type.init(rest)).run()
    }
}

/// The exit status of a command.
enum ExitStatus: Int32 {
    case success = 0
    /// It ran, and found a problem.
    case failure = 1
    /// The command line could not be understood.
    case usage = 2
    /// Ctrl-C ended it before it was done.
    case interrupted = 130
}

/// A command line that cannot be understood.
struct UsageError: Error {
    let message: String
    init(_ message: String) { self.message = message }

    /// An unknown name, with the one that was probably meant.
    static func unknown(_ what: String, _ name: String, among names: [String]) -> UsageError {
        let hint = nearestName(to: name, in: names).map { " Did you mean “\($0)”?" } ?? ""
        return UsageError("there is no \(what) “\(name)”; there are \(names.joined(separator: ", ")).\(hint)")
    }
}

/// The providers that this tool knows by name.
enum Providers {
    static let all: [any InfrastructureModule.Type] = [
        MockModule.self, FirebaseModule.self, SupabaseModule.self, MovingModule.self,
    ]
}

/// `switchyard firebase rules`
struct FirebaseCommand: ToolCommand {
    init(_ words: [String]) throws(UsageError) {
        guard words.first == "rules" else {
            throw UsageError(
                words.first.map { "there is no “firebase \($0)”; there is “firebase rules”" }
                    ?? "missing subcommand: “firebase rules”")
        }
        _ = try Options(Array(words.dropFirst()), of: Commands.named("firebase rules"))
    }

    func run() -> ExitStatus {
        Terminal.print(FirestoreRules.domain)
        return .success
    }
}

/// `switchyard version`
struct VersionCommand: ToolCommand {
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        isJSON = try Options(words, of: Commands.named("version")).has("--json")
    }

    /// There is no release yet.
    static let version = "unreleased"

    func run() -> ExitStatus {
        let functions = DocumentSchema.version
        if isJSON {
            let json: JSON = ["version": .string(Self.version), "supabaseFunctions": .integer(Int64(functions))]
            Terminal.print(json.text())
        } else {
            Terminal.print(
                "switchyard, \(Self.version); installs version \(functions) of the functions for Supabase")
        }
        return .success
    }
}

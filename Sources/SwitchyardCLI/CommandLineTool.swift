import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardLifeSignalStory
import SwitchyardMock
import SwitchyardSupabase

/// `switchyard`: the package's command-line tool.
@main
struct CommandLineTool {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(UsageError) {
            exit(try await run(arguments).rawValue)
        } catch {
            Terminal.error("switchyard: \(error.message)\nTry “switchyard help”.")
            exit(ExitStatus.usage.rawValue)
        }
    }

    static func run(_ arguments: [String]) async throws(UsageError) -> ExitStatus {
        guard let name = arguments.first else {
            Terminal.print(HelpCommand.text)
            return .usage
        }
        let rest = Array(arguments.dropFirst())
        if rest.contains("--help") || rest.contains("-h"), commands.contains(name) { return HelpCommand().run() }
        switch name {
        case "help", "--help", "-h": return try HelpCommand(rest).run()
        case "demo": return try await DemoCommand(rest).run()
        case "conformance": return try await ConformanceCommand(rest).run()
        case "emulator": return try await EmulatorCommand(rest).run()
        case "firebase": return try FirebaseCommand(rest).run()
        case "supabase": return try await SupabaseCommand(rest).run()
        case "adapter": return try AdapterCommand(rest).run()
        case "move": return try await MoveCommand(rest).run()
        default:
            throw UsageError.unknown("command", name, among: commands)
        }
    }

    static let commands = ["demo", "conformance", "emulator", "firebase", "supabase", "adapter", "move", "help"]
}

/// The exit status of a command.
enum ExitStatus: Int32 {
    case success = 0
    /// It ran, and found a problem.
    case failure = 1
    /// The command line could not be understood.
    case usage = 2
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

/// A full disk or a reader that has gone ends neither a check nor a server.
enum Terminal {
    static func print(_ text: String) { _ = POSIXFile.write(Array((text + "\n").utf8), to: 1) }
    static func errorWithoutBreak(_ text: String) { _ = POSIXFile.write(Array(text.utf8), to: 2) }
    static func error(_ text: String) { _ = POSIXFile.write(Array((text + "\n").utf8), to: 2) }
}

/// The arguments after a command: options with a value, switches, and nothing else.
struct Options {
    private var values: [String: String] = [:]
    private var switches: Set<String> = []

    /// - Throws: For unknown arguments, an option without its value, and one that is given twice.
    init(_ words: [String], values known: Set<String>, switches knownSwitches: Set<String>) throws(UsageError) {
        var words = words[...]
        while let word = words.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first, name.hasPrefix("--") else {
                throw UsageError("“\(word)” was not expected here")
            }
            if knownSwitches.contains(name) {
                guard parts.count == 1 else { throw UsageError("“\(name)” takes no value") }
                switches.insert(name)
            } else if known.contains(name) {
                guard values[name] == nil else { throw UsageError("“\(name)” is given twice") }
                if parts.count == 2 {
                    values[name] = parts[1]
                } else if let value = words.first, !value.hasPrefix("--") {
                    values[name] = value
                    words.removeFirst()
                } else {
                    throw UsageError("“\(name)” needs a value")
                }
            } else {
                throw UsageError.unknown("option", name, among: known.union(knownSwitches).sorted())
            }
        }
    }

    subscript(name: String) -> String? { values[name] }
    func has(_ name: String) -> Bool { switches.contains(name) }
}

/// The providers that this tool knows by name.
enum Providers {
    static let all: [any InfrastructureModule.Type] = [MockModule.self, FirebaseModule.self, SupabaseModule.self]
}

/// `switchyard firebase rules`
struct FirebaseCommand {
    init(_ words: [String]) throws(UsageError) {
        guard words.first == "rules" else {
            throw UsageError(
                words.first.map { "there is no “firebase \($0)”; there is “firebase rules”" }
                    ?? "missing subcommand: “firebase rules”")
        }
        guard words.count == 1 else { throw UsageError("“firebase rules” takes no options") }
    }

    func run() -> ExitStatus {
        Terminal.print(FirestoreRules.domain)
        return .success
    }
}

/// `switchyard demo`
struct DemoCommand {
    init(_ words: [String]) throws(UsageError) {
        guard words.isEmpty else { throw UsageError("“demo” takes no options") }
    }

    func run() async -> ExitStatus {
        do {
            let project = MockBackend()
            project.accounts.asksForConfirmation = true
            let alice = try await device(of: project)
            let bob = try await device(of: project)
            let story = LifeSignalStory(alice: alice, bob: bob) { address in
                guard let link = project.accounts.mail(.addressConfirmation, to: address)?.link else {
                    throw AuthError(.emailNotConfirmed, "No email has arrived.")
                }
                return link
            } report: { line in
                Terminal.print(line)
            }
            try await story.run()
            await alice.shutDown()
            await bob.shutDown()
            return .success
        } catch {
            Terminal.error("The demo failed: \(error)")
            return .failure
        }
    }

    private func device(of project: MockBackend) async throws(InfrastructureError) -> Infrastructure {
        try await InfrastructureFactory(MockModule(backend: project)).make(InfrastructureSelection(default: .mock))
    }
}

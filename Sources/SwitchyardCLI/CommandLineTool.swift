import Foundation
import Switchyard
import SwitchyardBytes

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
        default:
            throw UsageError.unknown("command", name, among: commands)
        }
    }

    static let commands = ["demo", "conformance", "emulator", "firebase", "supabase", "help"]
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
    static func error(_ text: String) { _ = POSIXFile.write(Array((text + "\n").utf8), to: 2) }
}

import SwitchyardSupabase

/// `switchyard help`
struct HelpCommand: ToolCommand {
    private enum Shown {
        case list, everything, markdown
        case commands([CommandSpec])
    }

    private let shown: Shown

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("help"))
        if given.has("--markdown") {
            shown = .markdown
        } else if given.has("--all") {
            shown = .everything
        } else if given.arguments.isEmpty {
            shown = .list
        } else {
            shown = .commands(try HelpCommand.commands(given.arguments))
        }
    }

    /// The rows that a name stands for: a command, or all that begin with a word.
    private static func commands(_ words: [String]) throws(UsageError) -> [CommandSpec] {
        let group = Commands.group(words[0])
        guard !group.isEmpty else { throw UsageError.unknown("command", words[0], among: Commands.names) }
        guard words.count > 1, group.contains(where: { $0.subcommand != nil }) else {
            guard words.count == 1 else { throw UsageError("“help” takes the name of one command") }
            return group
        }
        let name = words.joined(separator: " ")
        guard let command = group.first(where: { $0.name == name }) else {
            throw UsageError.unknown("command", name, among: group.map(\.name))
        }
        return [command]
    }

    func run() -> ExitStatus {
        let width = Terminal.width()
        switch shown {
        case .list: Terminal.print(HelpText.list(width: width))
        case .everything:
            Terminal.print(Commands.all.map { HelpText.command($0, width: width) }.joined(separator: "\n\n"))
        case .markdown: Terminal.print(CommandMarkdown.text)
        case .commands(let commands):
            Terminal.print(commands.map { HelpText.command($0, width: width) }.joined(separator: "\n\n"))
        }
        return .success
    }

    /// The help of the command that `words` begin with, as far as they name one.
    static func answer(to words: [String]) -> ExitStatus {
        let group = Commands.group(words.first ?? "")
        let named = group.filter { $0.subcommand != nil && $0.subcommand == words.dropFirst().first }
        let width = Terminal.width()
        Terminal.print(
            (named.isEmpty ? group : named).map { HelpText.command($0, width: width) }.joined(separator: "\n\n"))
        return .success
    }
}

/// What `help` prints, from the table.
enum HelpText {
    static let statuses =
        "Exit status: 0 for success, 1 if something failed, 2 if the command line was not understood, 130 after Ctrl-C."

    /// Every command in a line.
    static func list(width: Int) -> String {
        let first = (Commands.all.map(\.name.count).max() ?? 0) + 3
        var lines = ["switchyard: command-line tool of the Switchyard package"]
        for section in Commands.sections {
            lines += ["", section.title]
            lines += Wrapped.columns(section.commands.map { ($0.name, $0.summary) }, first: first, width: width)
        }
        lines += [""] + Wrapped.lines("“switchyard help COMMAND” says what a command takes. " + statuses, width: width)
        return lines.joined(separator: "\n")
    }

    static func command(_ command: CommandSpec, width: Int) -> String {
        var lines = Wrapped.lines(usage(of: command), width: width)
        lines = lines.enumerated().map { $0.offset == 0 ? $0.element : "    " + $0.element }
        lines += Wrapped.lines(command.summary, width: width - 4).map { "    " + $0 }
        for paragraph in command.details {
            lines += [""] + Wrapped.lines(paragraph, width: width - 4).map { "    " + $0 }
        }
        let rows =
            command.arguments.map { ($0.name, $0.summary) } + command.options.map { ($0.usage, $0.summary) }
        if !rows.isEmpty {
            let first = min((rows.map(\.0.count).max() ?? 0) + 2, max(12, min(24, width / 3)))
            lines += [""] + Wrapped.columns(rows, indent: 4, first: first, width: width)
        }
        if !command.examples.isEmpty { lines += [""] + command.examples.map { "    switchyard \($0)" } }
        return lines.joined(separator: "\n")
    }

    /// `switchyard get PATH… [options]`
    static func usage(of command: CommandSpec) -> String {
        (["switchyard", command.name] + command.arguments.map(\.usage) + (command.options.isEmpty ? [] : ["[options]"]))
            .joined(separator: " ")
    }
}

/// The part of the article that the table makes.
enum CommandMarkdown {
    static var text: String {
        Commands.sections.map { section in
            "## \(section.title)\n\n" + section.commands.map(command).joined(separator: "\n\n")
        }.joined(separator: "\n\n")
    }

    private static func command(_ command: CommandSpec) -> String {
        var parts = ["### \(command.name)", "```sh\n\(HelpText.usage(of: command))\n```", command.summary]
        parts += command.details.map(escaped)
        let isCommon = { (option: OptionSpec) in
            Commands.common.contains { $0.name == option.name && $0.summary == option.summary }
        }
        let rows =
            command.arguments.map { ("`\($0.name)`", $0.summary) }
            + command.options.filter { !isCommon($0) }.map { ("`\(cell($0.usage))`", $0.summary) }
        if !rows.isEmpty {
            parts.append(
                "| | |\n|---|---|\n" + rows.map { "| \($0.0) | \(cell(escaped($0.1))) |" }.joined(separator: "\n"))
        }
        let common = command.options.filter(isCommon)
        if !common.isEmpty {
            parts.append("The backend: " + common.map { "`\($0.usage)`" }.joined(separator: ", ") + ".")
        }
        if !command.examples.isEmpty {
            parts.append("```sh\n" + command.examples.map { "switchyard \($0)" }.joined(separator: "\n") + "\n```")
        }
        return parts.joined(separator: "\n\n")
    }

    /// A bar would end a cell.
    private static func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }

    /// Text whose characters mean nothing in Markdown.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            if "*_<[`".contains(character) { result.append("\\") }
            result.append(character)
        }
        return result
    }
}

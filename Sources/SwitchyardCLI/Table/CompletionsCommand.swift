/// `switchyard completions`
struct CompletionsCommand: ToolCommand {
    enum Shell: String, CaseIterable {
        case bash, zsh, fish
        static let names = allCases.map(\.rawValue)
    }

    private let shell: Shell

    init(_ words: [String]) throws(UsageError) {
        let name = try Options(words, of: Commands.named("completions")).arguments[0]
        guard let shell = Shell(rawValue: name) else { throw UsageError.unknown("shell", name, among: Shell.names) }
        self.shell = shell
    }

    func run() -> ExitStatus {
        let script =
            switch shell {
            case .bash: CompletionScript.bash
            case .zsh: CompletionScript.zsh
            case .fish: CompletionScript.fish
            }
        Terminal.print(script)
        return .success
    }
}

/// Scripts that offer what the table has.
enum CompletionScript {
    /// In single quotes, as all three shells read them.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "’") + "'"
    }

    private static func subcommands(_ group: String) -> [CommandSpec] {
        Commands.group(group).filter { $0.subcommand != nil }
    }

    // MARK: bash

    static var bash: String {
        let rows = Commands.all.map { command in
            let options = command.options.map(\.name).joined(separator: " ")
            return "        \(quoted(command.name))) options=\(quoted(options)); words=\(quoted(words(command)));;"
        }
        let values = valueCases.map { "        \(quoted($0.key))) \(bashReply($0.value)); return;;" }
        let groups = Commands.names.filter { !subcommands($0).isEmpty }.map { group in
            let names = subcommands(group).compactMap(\.subcommand).joined(separator: " ")
            return "            \(group)) COMPREPLY=($(compgen -W \(quoted(names)) -- \"$word\")); return;;"
        }
        return """
            # Completions of switchyard for bash.
            _switchyard() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command options words
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W \(quoted(Commands.names.joined(separator: " "))) -- "$word")); return
                fi
                command=${COMP_WORDS[1]}
                if [ "$COMP_CWORD" -eq 2 ]; then
                    case $command in
            \(groups.joined(separator: "\n"))
                    esac
                fi
                case "$command ${COMP_WORDS[2]}" in
            \(Commands.all.filter { $0.subcommand != nil }.map { "        \(quoted($0.name))) command=\(quoted($0.name));;" }
                .joined(separator: "\n"))
                esac
                case "$command $before" in
            \(values.joined(separator: "\n"))
                esac
                case $command in
            \(rows.joined(separator: "\n"))
                esac
                if [[ $word == -* ]]; then
                    COMPREPLY=($(compgen -W "$options" -- "$word"))
                elif [ -n "$words" ]; then
                    COMPREPLY=($(compgen -W "$words" -- "$word"))
                else
                    COMPREPLY=($(compgen -f -- "$word"))
                fi
            }
            complete -o filenames -F _switchyard switchyard
            """
    }

    private static func words(_ command: CommandSpec) -> String {
        for argument in command.arguments {
            if let words = argument.completes.words { return words.joined(separator: " ") }
        }
        return ""
    }

    /// What the value of an option is, by command and option.
    private static var valueCases: [(key: String, value: Completion)] {
        Commands.all.flatMap { command in
            command.options.filter { $0.value != nil }.map { ("\(command.name) \($0.name)", $0.completes) }
        }
    }

    private static func bashReply(_ completion: Completion) -> String {
        switch completion {
        case .nothing: "COMPREPLY=()"
        case .file: "COMPREPLY=($(compgen -f -- \"$word\"))"
        case .folder: "COMPREPLY=($(compgen -d -- \"$word\"))"
        case .command, .words: "COMPREPLY=($(compgen -W \(quoted(completion.list)) -- \"$word\"))"
        }
    }

    // MARK: zsh

    static var zsh: String {
        let commands = Commands.names.map { name in
            let group = Commands.group(name)
            let summary = group.count == 1 ? group[0].summary : group.compactMap(\.subcommand).joined(separator: ", ")
            return "        \(quoted("\(name):\(summary)"))"
        }
        let rows = Commands.all.map { command in
            let specs = command.options.map(zshOption) + command.arguments.map(zshArgument)
            return "        \(quoted(command.name))) _arguments \(specs.joined(separator: " "));;"
        }
        let groups = Commands.names.filter { !subcommands($0).isEmpty }.map { group in
            let values = subcommands(group).map { quoted("\($0.subcommand ?? ""):\($0.summary)") }.joined(
                separator: " ")
            return "            \(group)) parts=(\(values)); _describe subcommand parts; return;;"
        }
        return """
            #compdef switchyard
            # Completions of switchyard for zsh.
            _switchyard() {
                local -a commands parts
                local command
                commands=(
            \(commands.joined(separator: "\n"))
                )
                if (( CURRENT == 2 )); then _describe command commands; return; fi
                command=$words[2]
                if (( CURRENT == 3 )); then
                    case $command in
            \(groups.joined(separator: "\n"))
                    esac
                fi
                case "$command $words[3]" in
            \(Commands.all.filter { $0.subcommand != nil }
                .map { "        \(quoted($0.name))) command=\(quoted($0.name)); shift words; (( CURRENT-- ));;" }
                .joined(separator: "\n"))
                esac
                shift words; (( CURRENT-- ))
                case $command in
            \(rows.joined(separator: "\n"))
                esac
            }
            _switchyard "$@"
            """
    }

    /// Without what `_arguments` reads as its own.
    private static func zshText(_ text: String) -> String {
        String(text.map { $0 == "[" ? "(" : $0 == "]" ? ")" : $0 == ":" ? ";" : $0 })
    }

    private static func zshOption(_ option: OptionSpec) -> String {
        let value = option.value.map { ":\(zshText($0)):\(zshAction(option.completes))" } ?? ""
        return quoted("\(option.name)[\(zshText(option.summary))]\(value)")
    }

    private static func zshArgument(_ argument: ArgumentSpec) -> String {
        let colons = argument.count == .optional ? "::" : ":"
        let many = argument.count == .any || argument.count == .atLeastOne ? "*" : ""
        return quoted("\(many)\(many.isEmpty ? colons : ":")\(zshText(argument.name)):\(zshAction(argument.completes))")
    }

    private static func zshAction(_ completion: Completion) -> String {
        switch completion {
        case .nothing: " "
        case .file: "_files"
        case .folder: "_files -/"
        case .command, .words: "(\(completion.list))"
        }
    }

    // MARK: fish

    static var fish: String {
        var lines = ["# Completions of switchyard for fish.", "complete -c switchyard -f"]
        for name in Commands.names {
            let group = Commands.group(name)
            let summary = group.count == 1 ? group[0].summary : group.compactMap(\.subcommand).joined(separator: ", ")
            lines.append("complete -c switchyard -n __fish_use_subcommand -a \(name) -d \(quoted(summary))")
        }
        for command in Commands.all {
            var condition = "__fish_seen_subcommand_from \(command.group)"
            if let subcommand = command.subcommand {
                let others = subcommands(command.group).compactMap(\.subcommand).joined(separator: " ")
                lines.append(
                    "complete -c switchyard -n \(quoted("\(condition); and not __fish_seen_subcommand_from \(others)")) "
                        + "-a \(subcommand) -d \(quoted(command.summary))")
                condition += "; and __fish_seen_subcommand_from \(subcommand)"
            }
            for option in command.options {
                let value = option.value == nil ? "" : fishAction(option.completes)
                lines.append(
                    "complete -c switchyard -n \(quoted(condition)) -l \(option.name.dropFirst(2))\(value) "
                        + "-d \(quoted(option.summary))")
            }
            for argument in command.arguments where argument.completes != .nothing {
                lines.append("complete -c switchyard -n \(quoted(condition))\(fishArgument(argument.completes))")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func fishAction(_ completion: Completion) -> String {
        switch completion {
        case .nothing: " -x"
        case .file, .folder: " -r -F"
        case .command, .words: " -x -a \(quoted(completion.list))"
        }
    }

    private static func fishArgument(_ completion: Completion) -> String {
        switch completion {
        case .nothing: ""
        case .file, .folder: " -F"
        case .command, .words: " -a \(quoted(completion.list))"
        }
    }
}

extension Completion {
    fileprivate var words: [String]? {
        switch self {
        case .words(let words): words
        case .command: Commands.names
        case .nothing, .file, .folder: nil
        }
    }

    fileprivate var list: String { (words ?? []).joined(separator: " ") }
}

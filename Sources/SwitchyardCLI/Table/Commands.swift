import Switchyard

/// A command of the program. Its row of the table says what words it takes.
protocol ToolCommand {
    /// - Parameter words: Those after the first one of the command.
    init(_ words: [String]) throws(UsageError)
    func run() async -> ExitStatus
}

/// The table of commands: parsing, help, completions and the article are made from it.
enum Commands {
    struct Section: Sendable {
        let title: String
        let commands: [CommandSpec]
    }

    static let sections = [
        Section(title: "Documents", commands: documents),
        Section(title: "Files", commands: files),
        Section(title: "Accounts", commands: accounts),
        Section(title: "Writes that wait", commands: queue),
        Section(title: "Setting up", commands: setUp),
        Section(title: "Moving", commands: move),
        Section(title: "Local servers", commands: servers),
        Section(title: "The program", commands: program),
    ]

    static let all = sections.flatMap(\.commands)

    /// The first words, each once.
    static let names: [String] = all.reduce(into: []) { names, command in
        if names.last != command.group { names.append(command.group) }
    }

    /// All commands that begin with a word.
    static func group(_ name: String) -> [CommandSpec] { all.filter { $0.group == name } }

    /// The row of a command, by its whole name.
    static func named(_ name: String) -> CommandSpec {
        // A name that is not in the table takes no words, which a test of every command finds.
        all.first { $0.name == name } ?? CommandSpec(name: name, summary: "")
    }

    static func type(_ name: String) -> (any ToolCommand.Type)? {
        switch name {
        case "get": GetCommand.self
        case "set": SetCommand.self
        case "merge": MergeCommand.self
        case "update": UpdateCommand.self
        case "delete": DeleteCommand.self
        case "query": QueryCommand.self
        case "count": CountCommand.self
        case "watch": WatchCommand.self
        case "ls": ListCommand.self
        case "upload": UploadCommand.self
        case "download": DownloadCommand.self
        case "sign-in": SignInCommand.self
        case "sign-out": SignOutCommand.self
        case "whoami": WhoAmICommand.self
        case "queue": QueueCommand.self
        case "doctor": DoctorCommand.self
        case "types": TypesCommand.self
        case "conformance": ConformanceCommand.self
        case "firebase": FirebaseCommand.self
        case "supabase": SupabaseCommand.self
        case "adapter": AdapterCommand.self
        case "move": MoveFamilyCommand.self
        case "emulator": EmulatorCommand.self
        case "page": PageCommand.self
        case "demo": DemoCommand.self
        case "version": VersionCommand.self
        case "completions": CompletionsCommand.self
        case "help": HelpCommand.self
        default: nil
        }
    }
}

/// One command: what it takes, and what its help, its completions and the article say about it.
struct CommandSpec: Sendable {
    /// With the subcommand: `supabase install`.
    let name: String
    /// One sentence.
    let summary: String
    var arguments: [ArgumentSpec] = []
    var options: [OptionSpec] = []
    /// Paragraphs below the summary.
    var details: [String] = []
    /// Command lines without the program's name.
    var examples: [String] = []

    /// The first word.
    var group: String { String(name.prefix { $0 != " " }) }
    /// The word after the first, if there is one.
    var subcommand: String? {
        name.firstIndex(of: " ").map { String(name[name.index(after: $0)...]) }
    }

    func option(_ name: String) -> OptionSpec? { options.first { $0.name == name } }
}

/// A word that a command takes besides its options.
struct ArgumentSpec: Sendable {
    enum Count: Sendable { case one, optional, atLeastOne, any }

    /// In capital letters, as in `COLLECTION`.
    let name: String
    let summary: String
    var count = Count.one
    var completes = Completion.nothing

    init(_ name: String, _ summary: String, count: Count = .one, completes: Completion = .nothing) {
        self.name = name
        self.summary = summary
        self.count = count
        self.completes = completes
    }

    /// `[QUERY]`, `PATH…`
    var usage: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .atLeastOne: "\(name)…"
        case .any: "[\(name)…]"
        }
    }
}

/// An option with a value, or a switch.
struct OptionSpec: Sendable {
    /// With both hyphens.
    let name: String
    /// What stands for the value, such as `FILE`; `nil` for a switch.
    let value: String?
    let summary: String
    let completes: Completion

    init(_ name: String, _ value: String? = nil, _ summary: String, completes: Completion = .nothing) {
        self.name = name
        self.value = value
        self.summary = summary
        self.completes = completes
    }

    /// `--config FILE`
    var usage: String { value.map { "\(name) \($0)" } ?? name }
}

/// What a shell offers for a word.
enum Completion: Sendable, Equatable {
    case nothing, file, folder
    /// A command's name. Not its words: the table would need itself.
    case command
    case words([String])
}

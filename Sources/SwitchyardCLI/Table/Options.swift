import Switchyard

/// The words after a command, by its row of the table: options with a value, switches and arguments.
struct Options {
    private var values: [String: String] = [:]
    private var switches: Set<String> = []
    /// The words that are no options, in order.
    private(set) var arguments: [String] = []

    /// - Throws: For unknown options, an option without its value, one that is given twice, and too few or too many arguments.
    init(_ words: [String], of command: CommandSpec) throws(UsageError) {
        var words = words[...]
        var takesOptions = true
        while let word = words.popFirst() {
            guard takesOptions, word.hasPrefix("--") else {
                arguments.append(word)
                continue
            }
            if word == "--" { takesOptions = false } else { try take(word, &words, of: command) }
        }
        try checkArguments(of: command)
    }

    private mutating func take(
        _ word: String, _ rest: inout ArraySlice<String>, of command: CommandSpec
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0]
        guard let option = command.option(name) else {
            let names = command.options.map(\.name).sorted()
            guard !names.isEmpty else { throw UsageError("“\(command.name)” takes no options") }
            throw UsageError.unknown("option", name, among: names)
        }
        guard option.value != nil else {
            guard parts.count == 1 else { throw UsageError("“\(name)” takes no value") }
            switches.insert(name)
            return
        }
        guard values[name] == nil else { throw UsageError("“\(name)” is given twice") }
        if parts.count == 2 {
            values[name] = parts[1]
        } else if let value = rest.first, !value.hasPrefix("--") {
            values[name] = value
            rest.removeFirst()
        } else {
            throw UsageError("“\(name)” needs a value")
        }
    }

    private func checkArguments(of command: CommandSpec) throws(UsageError) {
        let isOpen = command.arguments.contains { $0.count == .atLeastOne || $0.count == .any }
        if arguments.count > command.arguments.count, !isOpen {
            let extra = arguments[command.arguments.count]
            guard !command.arguments.isEmpty || !command.options.isEmpty else {
                throw UsageError("“\(command.name)” takes no options")
            }
            throw UsageError("“\(extra)” was not expected here")
        }
        let needed = command.arguments.filter { $0.count == .one || $0.count == .atLeastOne }
        guard arguments.count >= needed.count else {
            let usage = command.arguments.map(\.usage).joined(separator: " ")
            throw UsageError(
                "“\(command.name)” needs \(needed[arguments.count].name): switchyard \(command.name) \(usage)")
        }
    }

    subscript(name: String) -> String? { values[name] }
    func has(_ name: String) -> Bool { switches.contains(name) }

    /// A whole number from `range` on.
    func number(_ name: String, from least: Int = 1) throws(UsageError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), number >= least else {
            throw UsageError("“\(text)” is no number for “\(name)”; it takes a whole number from \(least) on")
        }
        return number
    }
}

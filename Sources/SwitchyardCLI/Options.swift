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

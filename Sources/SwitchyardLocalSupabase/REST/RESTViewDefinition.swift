/// Where the columns of a view come from, as the database's rule for the view tells.
enum RESTViewDefinition {
    struct Column: Hashable, Sendable {
        let relation: Int
        let column: Int
    }

    /// Parses a rule's action, which is a tree of nodes such as `({QUERY … :targetList ({TARGETENTRY … :resno 1 …}) …})`.
    ///
    /// - Returns: The origin of each column of the view that shows a column of a table or view as it is.
    static func origins(_ text: String) -> [Int: Column] {
        var origins: [Int: Column] = [:]
        var entry: [String: Int] = [:]
        var (depth, key, word, isEscaped) = (0, "", [UInt8](), false)

        func endWord() {
            guard !word.isEmpty else { return }
            defer { word.removeAll(keepingCapacity: true) }
            if word[0] == UInt8(ascii: ":") {
                key = String(decoding: word, as: UTF8.self)
            } else if let number = Int(String(decoding: word, as: UTF8.self)) {
                entry[key] = number
                key = ""
            }
        }
        for byte in text.utf8 {
            if isEscaped {
                // A backslash stands before brackets that are part of a name.
                isEscaped = false
                continue
            }
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "{"):
                endWord()
                depth += 1
                if depth == 2 { entry = [:] }
            case UInt8(ascii: "}"):
                endWord()
                // Within the outermost query; other queries are deeper.
                if depth == 2, let column = entry[":resno"], let relation = entry[":resorigtbl"], relation != 0,
                    let origin = entry[":resorigcol"], origin > 0
                {
                    origins[column] = Column(relation: relation, column: origin)
                }
                depth -= 1
            case UInt8(ascii: " "), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\n"): endWord()
            default: if depth == 2 { word.append(byte) }
            }
        }
        return origins
    }
}

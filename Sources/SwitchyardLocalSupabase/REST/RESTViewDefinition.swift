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
        var (depth, key, word, isEscaped) = (0, "", "", false)

        func endWord() {
            defer { word = "" }
            guard depth == 2, !word.isEmpty else { return }
            if word.first == ":" {
                key = word
            } else if let number = Int(word) {
                entry[key] = number
                key = ""
            }
        }
        for letter in text {
            if isEscaped {
                // A backslash stands before brackets that are part of a name.
                isEscaped = false
                word.append(letter)
                continue
            }
            switch letter {
            case "\\": isEscaped = true
            case "{":
                endWord()
                depth += 1
                if depth == 2 { entry = [:] }
            case "}":
                endWord()
                // Within the outermost query; other queries are deeper.
                if depth == 2, let column = entry[":resno"], let relation = entry[":resorigtbl"], relation != 0,
                    let origin = entry[":resorigcol"], origin > 0
                {
                    origins[column] = Column(relation: relation, column: origin)
                }
                depth -= 1
            case " ", "(", ")", "\n": endWord()
            default: word.append(letter)
            }
        }
        return origins
    }
}

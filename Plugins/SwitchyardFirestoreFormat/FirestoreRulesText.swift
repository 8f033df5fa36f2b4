/// Rules in the vendor's language, as far as their texts are compared: a local server runs none.
package struct FirestoreRulesText: Sendable {
    /// The rules of the users, contacts, check-ins and notifications clients, for a project.
    package static var domain: String { String(decoding: PackageResources.domain_rules, as: UTF8.self) }

    private struct Word: Sendable {
        let text: Substring
        /// From 1.
        let line: Int
    }

    private let lines: [Substring]
    private let words: [Word]

    package init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        words = Self.words(lines)
    }

    /// The first line that says something else than `other`, whatever space and comments there are; `nil` if they say the same.
    package func firstDifference(from other: FirestoreRulesText) -> (number: Int, text: String)? {
        for (index, word) in words.enumerated()
        where index >= other.words.count || !word.text.utf8.elementsEqual(other.words[index].text.utf8) {
            return line(word.line)
        }
        return words.count < other.words.count ? line(max(lines.count, 1)) : nil
    }

    private func line(_ number: Int) -> (number: Int, text: String) {
        let text = lines.indices.contains(number - 1) ? lines[number - 1] : ""
        return (number, String(text.drop(while: \.isWhitespace).prefix(200)))
    }

    private static func words(_ lines: [Substring]) -> [Word] {
        var words: [Word] = []
        var isInComment = false
        for (index, line) in lines.enumerated() {
            var rest = line
            while let first = rest.first {
                if isInComment {
                    isInComment = !rest.hasPrefix("*/")
                    rest = rest.dropFirst(isInComment ? 1 : 2)
                } else if rest.hasPrefix("//") {
                    break
                } else if rest.hasPrefix("/*") {
                    isInComment = true
                    rest = rest.dropFirst(2)
                } else if first.isWhitespace {
                    rest = rest.dropFirst()
                } else {
                    let length = length(ofWordAt: rest, first)
                    words.append(Word(text: rest.prefix(length), line: index + 1))
                    rest = rest.dropFirst(length)
                }
            }
        }
        return words
    }

    /// A name or number, a text in quotes, or a single mark.
    private static func length(ofWordAt rest: Substring, _ first: Character) -> Int {
        func belongs(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
        if first == "'" || first == "\"" {
            return (rest.dropFirst().firstIndex(of: first).map { rest.distance(from: rest.startIndex, to: $0) + 1 })
                ?? rest.count
        }
        return belongs(first) ? rest.prefix(while: belongs).count : 1
    }
}

/// `'a' in topics && ('b' in topics || 'c' in topics)`
struct TopicCondition {
    private indirect enum Term {
        case topic(String)
        case all(Term, Term)
        case any(Term, Term)
        case not(Term)
    }

    private static let maximumTopics = 5

    private let term: Term

    init(_ text: String) throws(MessagingFailure) {
        var parser = Parser(rest: text[...])
        term = try parser.alternatives()
        parser.skipSpaces()
        guard parser.rest.isEmpty, parser.topics <= Self.maximumTopics else { throw Self.malformed }
    }

    func holds(_ isSubscribed: (String) -> Bool) -> Bool { Self.holds(term, isSubscribed) }

    private static func holds(_ term: Term, _ isSubscribed: (String) -> Bool) -> Bool {
        switch term {
        case .topic(let name): isSubscribed(name)
        case .all(let left, let right): holds(left, isSubscribed) && holds(right, isSubscribed)
        case .any(let left, let right): holds(left, isSubscribed) || holds(right, isSubscribed)
        case .not(let inner): !holds(inner, isSubscribed)
        }
    }

    private static let malformed = MessagingFailure.invalid("The condition cannot be read.")

    private struct Parser {
        var rest: Substring
        var topics = 0
        private var depth = 0

        init(rest: Substring) { self.rest = rest }

        mutating func alternatives() throws(MessagingFailure) -> Term {
            var term = try conjunction()
            while take("||") { term = .any(term, try conjunction()) }
            return term
        }

        private mutating func conjunction() throws(MessagingFailure) -> Term {
            var term = try operand()
            while take("&&") { term = .all(term, try operand()) }
            return term
        }

        private mutating func operand() throws(MessagingFailure) -> Term {
            depth += 1
            defer { depth -= 1 }
            guard depth <= 20 else { throw malformed }
            if take("!") { return .not(try operand()) }
            if take("(") {
                let term = try alternatives()
                guard take(")") else { throw malformed }
                return term
            }
            guard take("'"), let end = rest.firstIndex(of: "'") else { throw malformed }
            let name = try MessagingDatabase.topic(String(rest[..<end]))
            rest = rest[rest.index(after: end)...]
            guard take("in"), take("topics") else { throw malformed }
            topics += 1
            return .topic(name)
        }

        mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

        private mutating func take(_ token: String) -> Bool {
            skipSpaces()
            guard rest.hasPrefix(token) else { return false }
            rest = rest.dropFirst(token.count)
            return true
        }
    }
}

import SwitchyardBytes

/// Topic subscriptions, by devices and by servers.
extension MessagingDatabase {
    static func topic(_ name: String) throws(MessagingFailure) -> String {
        var name = name
        if name.hasPrefix("/topics/") { name.removeFirst(8) }
        let isLegal = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_.~%".utf8.contains(byte)
            }
        }
        guard isLegal, (1...900).contains(name.utf8.count) else { throw .invalid("The topic's name is not legal.") }
        return name
    }

    /// Subscribes the calling device. Repeating it does nothing.
    mutating func setSubscription(
        of name: String, to topic: String, isOn: Bool, _ call: MessagingCall
    ) throws(MessagingFailure) -> JSON {
        let id = try installation(call)
        guard registrations[name]?.installation == id else { throw .notFound }
        let topic = try MessagingDatabase.topic(topic)
        if isOn { topics[topic, default: []].insert(name) } else { topics[topic]?.remove(name) }
        return [:]
    }

    /// Subscribes a device for a server.
    mutating func addSubscription(
        of name: String, to topic: String?, updates: Bool, _ call: MessagingCall
    ) throws(MessagingFailure) -> JSON {
        try call.checkIsServer()
        guard registrations[name] != nil else { throw .unregistered }
        let topic = try MessagingDatabase.topic(topic ?? "")
        let isNew = topics[topic, default: []].insert(name).inserted
        guard isNew || updates else {
            throw MessagingFailure(409, "ALREADY_EXISTS", "The subscription is there already.")
        }
        return subscription(name, topic, call)
    }

    mutating func removeSubscription(
        of name: String, to topic: String, allowsMissing: Bool, _ call: MessagingCall
    ) throws(MessagingFailure) -> JSON {
        try call.checkIsServer()
        let topic = try MessagingDatabase.topic(topic)
        let removed = topics[topic]?.remove(name)
        guard removed != nil || allowsMissing else { throw .notFound }
        return [:]
    }

    func subscriptions(of name: String, _ call: MessagingCall) throws(MessagingFailure) -> JSON {
        try call.checkIsServer()
        guard registrations[name] != nil else { throw .unregistered }
        let own = topics.filter { $0.value.contains(name) }.keys.sorted()
        return ["topicSubscriptions": .array(own.map { subscription(name, $0, call) })]
    }

    private func subscription(_ name: String, _ topic: String, _ call: MessagingCall) -> JSON {
        [
            "name": .string("projects/\(call.project)/registrations/\(name)/topicSubscriptions/\(topic)"),
            "topic_name": .string(topic),
        ]
    }

    /// The older call of servers, for many devices at once, with a result for each.
    mutating func changeSubscriptions(isOn: Bool, _ call: MessagingCall) throws(MessagingFailure) -> JSON {
        try call.checkIsServer()
        let topic = try MessagingDatabase.topic(call.body["to"]?.string ?? "")
        let names = call.body["registration_tokens"]?.array?.compactMap(\.string) ?? []
        guard (1...1000).contains(names.count) else { throw .invalid("Give 1 to 1000 registrations.") }
        var results: [JSON] = []
        for name in names {
            guard registrations[name] != nil else {
                results.append(["error": "NOT_FOUND"])
                continue
            }
            if isOn { topics[topic, default: []].insert(name) } else { topics[topic]?.remove(name) }
            results.append([:])
        }
        return ["results": .array(results)]
    }
}

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

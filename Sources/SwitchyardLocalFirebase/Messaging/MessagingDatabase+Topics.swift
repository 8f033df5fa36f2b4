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

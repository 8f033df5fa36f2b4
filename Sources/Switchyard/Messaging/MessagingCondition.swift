/// A condition on the topics of a device: `.topic("news") && (.topic("sport") || !.topic("weather"))`.
public indirect enum MessagingCondition: Sendable, Hashable {
    case topic(MessagingTopic)
    case both(MessagingCondition, MessagingCondition)
    case either(MessagingCondition, MessagingCondition)
    case not(MessagingCondition)

    public static func && (left: MessagingCondition, right: MessagingCondition) -> MessagingCondition {
        .both(left, right)
    }
    public static func || (left: MessagingCondition, right: MessagingCondition) -> MessagingCondition {
        .either(left, right)
    }
    public static prefix func ! (condition: MessagingCondition) -> MessagingCondition { .not(condition) }

    /// Whether a device with these topics gets the message.
    public func isMet(by topics: Set<MessagingTopic>) -> Bool {
        switch self {
        case .topic(let topic): topics.contains(topic)
        case .both(let left, let right): left.isMet(by: topics) && right.isMet(by: topics)
        case .either(let left, let right): left.isMet(by: topics) || right.isMet(by: topics)
        case .not(let condition): !condition.isMet(by: topics)
        }
    }
}

extension MessagingCondition: CustomStringConvertible {
    /// As `(news && (sport || !weather))`.
    public var description: String {
        switch self {
        case .topic(let topic): topic.rawValue
        case .both(let left, let right): "(\(left) && \(right))"
        case .either(let left, let right): "(\(left) || \(right))"
        case .not(let condition): "!\(condition)"
        }
    }
}

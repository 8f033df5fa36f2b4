import SwitchyardBytes

/// What a call does, for everyone who looks at it: retries, deadlines, observers and error messages.
///
/// A client that forwards makes an operation from its arguments with one of the functions beside it, such as
/// ``reading(_:)-(StoragePath)``. They refuse invalid arguments, so a call with an invalid path is refused here and nowhere
/// else, before anything has been asked.
package struct ClientOperation: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The operation's name, such as `commit` or `sign in`.
    package let name: String
    /// The beginning of error messages, such as `Reading`. `nil` if messages do not begin with the operation.
    package let doing: String?
    /// `nil` if there is only one possible target, or if its name would be a user's email address, phone number or ID.
    package let target: String?
    /// How many more targets there are.
    package let others: Int
    /// Whether a repetition after a failure is harmless, even if only the answer to the first attempt was lost.
    package let isRepeatable: Bool

    package init(
        _ name: String, _ doing: String? = nil, _ target: String? = nil, others: Int = 0, isRepeatable: Bool = false
    ) {
        self.name = name
        self.doing = doing
        self.target = target
        self.others = others
        self.isRepeatable = isRepeatable
    }

    package init(stringLiteral name: String) { self.init(name) }

    /// An operation that may be repeated after a failure.
    package static func repeatable(
        _ name: String, _ doing: String? = nil, _ target: String? = nil, others: Int = 0
    ) -> ClientOperation {
        ClientOperation(name, doing, target, others: others, isRepeatable: true)
    }

    /// The beginning of error messages: `Reading “users/alice”`.
    var subject: String? {
        guard let doing else { return nil }
        guard let target else { return doing }
        return "\(doing) “\(target)”" + (others > 0 ? " and \(others) more" : "")
    }

    /// The same, named otherwise for observers.
    func called(_ name: String) -> ClientOperation {
        ClientOperation(name, doing, target, others: others, isRepeatable: isRepeatable)
    }

    func repeatable(_ isRepeatable: Bool) -> ClientOperation {
        ClientOperation(name, doing, target, others: others, isRepeatable: isRepeatable)
    }
}

extension ClientError {
    /// This error with the operation and its target in the message, unless the message already names the target, or the error
    /// is about the client or its user.
    func named(_ operation: ClientOperation) -> Self {
        guard let subject = operation.subject, !ErrorCode.aboutTheClient.contains(code) else { return self }
        let beginning = "\(subject) failed: "
        let isNamed = operation.target.map { message.includes("“\($0)”") } ?? message.hasPrefix(beginning)
        return isNamed ? self : saying(beginning + message)
    }
}

extension ErrorCode {
    fileprivate static let aboutTheClient: Set<ErrorCode> = [.shutDown, .cancelled, .sessionChanged]
}

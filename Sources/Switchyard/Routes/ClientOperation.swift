/// The operation of a routed client, as its ``Route`` sees it.
public struct ClientOperation: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The operation's name, such as `commit` or `sign in`.
    public let name: String
    /// Whether a repetition after a failure is harmless, even if only the answer to the first attempt was lost.
    public let isRepeatable: Bool
    /// Whether a stream ends with the client that it began on, instead of moving over to the next one.
    public let isPinned: Bool
    /// Its name in error messages.
    public let subject: Subject?

    /// `Reading “users/alice”`, or `Signing in`.
    public struct Subject: Sendable, Hashable {
        /// Such as `Reading`.
        public let doing: String
        /// `nil` if there is only one possible target, or if its name would be a person's address, number or ID.
        public let target: String?
        /// How many more targets there are.
        public let others: Int

        public init(_ doing: String, _ target: String?, others: Int = 0) {
            self.doing = doing
            self.target = target
            self.others = others
        }

        /// The beginning of error messages.
        var text: String {
            guard let target else { return doing }
            return "\(doing) “\(target)”" + (others > 0 ? " and \(others) more" : "")
        }
    }

    public init(_ name: String, isRepeatable: Bool = false, isPinned: Bool = false, _ subject: Subject? = nil) {
        self.name = name
        self.isRepeatable = isRepeatable
        self.isPinned = isPinned
        self.subject = subject
    }

    public init(stringLiteral name: String) { self.init(name) }

    /// An operation that may be repeated after a failure.
    public static func repeatable(_ name: String, _ subject: Subject? = nil) -> ClientOperation {
        ClientOperation(name, isRepeatable: true, subject)
    }

    /// An operation that concerns a person, whom no error message names.
    /// - Parameter doing: Its name in error messages, such as `Signing in`.
    static func personal(_ name: String, _ doing: String, isRepeatable: Bool = false) -> ClientOperation {
        ClientOperation(name, isRepeatable: isRepeatable, Subject(doing, nil))
    }
}

extension ClientError {
    func naming(_ operation: ClientOperation) -> Self { naming(operation.subject) }

    /// This error with the operation and its target in the message, unless the message already names the target, or the error
    /// is about the client or its user.
    func naming(_ subject: ClientOperation.Subject?) -> Self {
        guard let subject, !ErrorCode.aboutTheClient.contains(code) else { return self }
        let beginning = "\(subject.text) failed: "
        let isNamed = subject.target.map { message.contains("“\($0)”") } ?? message.hasPrefix(beginning)
        return isNamed ? self : saying(beginning + message)
    }
}

extension ErrorCode {
    fileprivate static let aboutTheClient: Set<ErrorCode> = [.shutDown, .cancelled, .sessionChanged]
}

extension WriteReceipt {
    func naming(_ operation: ClientOperation) -> WriteReceipt {
        guard present == nil else { return self }
        var receipt = WriteReceipt(batchID: batchID, lastFailure: lastFailure) {
            do throws(StorageError) {
                return .success(try await acknowledged())
            } catch {
                return .failure(error.naming(operation))
            }
        }
        receipt.subject = operation.subject?.text
        return receipt
    }
}

public import Switchyard

/// The name of a mock's operation and the type of its answer, for scripts and recorded calls.
public struct MockOperation<Answer: Sendable, Failure: ClientError>: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public var description: String { name }

    init(_ name: String) { self.name = name }
}

/// A call that reached a mock.
public struct MockCall: Sendable, Hashable, CustomStringConvertible {
    /// The operation's name, see ``MockOperation/name``.
    public let operation: String
    /// The subject of the call: paths, queries, kinds; never contents, passwords or addresses.
    public let subject: String

    /// Such as `commit set users/alice, delete users/bob`.
    public var description: String { subject.isEmpty ? operation : "\(operation) \(subject)" }
}

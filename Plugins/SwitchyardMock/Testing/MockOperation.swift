public import Switchyard

/// The name of an operation of a mock, which also says what it answers with: for scripts and recorded calls.
public struct MockOperation<Answer: Sendable, Failure: ClientError>: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public var description: String { name }

    init(_ name: String) { self.name = name }
}

/// A call that reached a mock.
public struct MockCall: Sendable, Hashable, CustomStringConvertible {
    /// The operation's name, as ``MockOperation/name`` has it.
    public let operation: String
    /// What it was about: paths, queries, kinds; never contents, passwords or addresses.
    public let subject: String

    /// Such as `commit set users/alice, delete users/bob`.
    public var description: String { subject.isEmpty ? operation : "\(operation) \(subject)" }
}

public import Foundation

/// What the errors of all clients have in common: an open code to branch on, a text for people, and whether to try again.
///
/// ```swift
/// do throws(StorageError) {
///     try await storage.updateDocument("users/alice", ["age": 30])
/// } catch .notFound {
///     …
/// } catch let error where error.isRetryable { … }
/// ```
///
/// No text in an error holds document contents, tokens or addresses of people, so errors may be logged as they are.
public protocol ClientError: Error, LocalizedError, CustomStringConvertible, Sendable {
    associatedtype Code: ErrorCode

    /// `isRetryable` is what is usual for `code` where nothing is said.
    init(_ code: Code, _ message: String, isRetryable: Bool?, retryAfter: Duration?, underlying: (any Error)?)

    /// What happened. Branch on this, never on the text; codes of a server that are not known here keep their own name.
    var code: Code { get }
    /// What happened, for people: what was wrong and, where it can be said, what to change.
    var message: String { get }
    /// Whether the same call may succeed later without a change by the caller.
    var isRetryable: Bool { get }
    /// How long the server asked to wait before trying again.
    var retryAfter: Duration? { get }
    /// The error below this one, for debugging. Its text is never part of this error's description.
    var underlying: (any Error)? { get }
}

/// The code of a ``ClientError``: a name that can gain values without breaking anybody.
public protocol ErrorCode: RawRepresentable<String>, Hashable, Sendable, CustomStringConvertible {
    init(rawValue: String)
}

extension ErrorCode {
    public var description: String { rawValue }
}

extension ClientError {
    public var description: String { "\(Self.self)(\(code.rawValue)): \(message)" }
    public var errorDescription: String? { message }
}

/// Lets `catch .notFound` work where the error's type is known.
public func ~= <E: ClientError>(code: E.Code, error: E) -> Bool {
    error.code == code
}

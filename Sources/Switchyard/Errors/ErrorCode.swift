/// The code of a ``ClientError``: an open set of names, so that new codes do not break existing code.
///
/// The codes here mean the same for every client. Codes of a single service are next to its error type.
public struct ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// A path, name, value, query or option that no backend could accept.
    public static let invalidArgument = ErrorCode(rawValue: "invalidArgument")
    /// The call needs something that does not exist.
    public static let notFound = ErrorCode(rawValue: "notFound")
    /// The call would create something that already exists.
    public static let alreadyExists = ErrorCode(rawValue: "alreadyExists")
    /// The rules do not allow it for the signed-in user.
    public static let unauthorized = ErrorCode(rawValue: "unauthorized")
    /// No user is signed in, the session is no longer accepted, or the project does not accept the app's key.
    public static let unauthenticated = ErrorCode(rawValue: "unauthenticated")
    /// The session changed while the call was running. It does not continue on behalf of the other user; a recorded upload of
    /// a file can be resumed by the user who began it.
    public static let sessionChanged = ErrorCode(rawValue: "sessionChanged")
    /// A quota or a limit is used up.
    public static let resourceExhausted = ErrorCode(rawValue: "resourceExhausted")
    public static let rateLimited = ErrorCode(rawValue: "rateLimited")
    /// The server did not answer: there is no network, or the server is down.
    public static let unavailable = ErrorCode(rawValue: "unavailable")
    /// Too many calls to one server are already waiting, so this one was not sent; see ``CallLimits``. A server that gets
    /// this error has more requests than its backend can handle: respond with HTTP status 503.
    public static let overloaded = ErrorCode(rawValue: "overloaded")
    public static let deadlineExceeded = ErrorCode(rawValue: "deadlineExceeded")
    public static let cancelled = ErrorCode(rawValue: "cancelled")
    /// The provider has no such client or operation; see its capabilities.
    public static let unsupported = ErrorCode(rawValue: "unsupported")
    /// The data on this device cannot be read or written, is damaged, has a newer version, or is locked by another process.
    public static let localStore = ErrorCode(rawValue: "localStore")
    /// The client was shut down.
    public static let shutDown = ErrorCode(rawValue: "shutDown")
    public static let `internal` = ErrorCode(rawValue: "internal")
    public static let unknown = ErrorCode(rawValue: "unknown")

    /// Codes for temporary conditions.
    static let passing: Set<ErrorCode> = [
        .unavailable, .overloaded, .deadlineExceeded, .rateLimited, .resourceExhausted, .aborted, .checksumMismatch,
        .networkError,
    ]
}

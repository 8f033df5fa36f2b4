import Foundation

/// Why clients could not be made, configured or switched.
public struct InfrastructureError: ClientError {
    public let code: Code
    public let message: String
    public let isRetryable: Bool
    public let retryAfter: Duration?
    public let underlying: (any Error)?

    public init(
        _ code: Code, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable ?? false
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    public struct Code: ErrorCode {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A mistake in the configuration; the message has the place, what was found and what was expected.
        public static let invalidConfiguration = Code(rawValue: "invalidConfiguration")
        /// Nobody supplied a module of that name.
        public static let unknownProvider = Code(rawValue: "unknownProvider")
        /// The provider has no client for the service.
        public static let unsupported = Code(rawValue: "unsupported")
        /// A file or folder cannot be read or written, or is damaged.
        public static let localStore = Code(rawValue: "localStore")
        /// A folder is in use by somebody else: another process, or another client in this one.
        public static let locked = Code(rawValue: "locked")
        public static let cancelled = Code(rawValue: "cancelled")
        public static let shutDown = Code(rawValue: "shutDown")
        public static let unknown = Code(rawValue: "unknown")
    }
}

extension InfrastructureError {
    /// The refusal of a module to make a client that it does not have.
    public static func unsupported(
        _ service: InfrastructureService, by provider: InfrastructureProvider
    ) -> InfrastructureError {
        InfrastructureError(
            .unsupported, "“\(provider)” has no client for \(service.rawValue); choose another provider for it.")
    }

    package static func wrapping(_ error: any Error) -> InfrastructureError {
        switch error {
        case let error as InfrastructureError: error
        case is CancellationError: InfrastructureError(.cancelled, "The call was cancelled.")
        default: InfrastructureError(.unknown, "A client could not be made.", underlying: error)
        }
    }
}

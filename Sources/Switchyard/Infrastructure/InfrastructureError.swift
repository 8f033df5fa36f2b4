import Foundation

/// Why clients could not be made, configured or switched.
public struct InfrastructureError: ClientError {
    public static let area = "Infrastructure"
    public let details: ErrorDetails
    public init(_ details: ErrorDetails) { self.details = details }

    /// The refusal of a module to make a client that it does not have.
    public static func unsupported(
        _ service: InfrastructureService, by provider: InfrastructureProvider
    ) -> InfrastructureError {
        InfrastructureError(
            .unsupported, "“\(provider)” has no client for \(service.rawValue); choose another provider for it.")
    }
}

extension ErrorCode {
    /// A mistake in the configuration; the message has the place, what was found and what was expected.
    public static let invalidConfiguration = ErrorCode(rawValue: "invalidConfiguration")
    /// Nobody supplied a module of that name.
    public static let unknownProvider = ErrorCode(rawValue: "unknownProvider")
    /// A folder is in use by somebody else: another process, or another client in this one.
    public static let locked = ErrorCode(rawValue: "locked")
}

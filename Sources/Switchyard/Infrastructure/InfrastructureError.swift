import Foundation

/// Why clients could not be made, configured or switched.
public struct InfrastructureError: ClientError {
    public static let area = "Infrastructure"
    public let details: ErrorDetails
    public init(_ details: ErrorDetails) { self.details = details }

    /// The error of a module that lacks the requested client.
    public static func unsupported(
        _ service: InfrastructureService, by provider: InfrastructureProvider
    ) -> InfrastructureError {
        InfrastructureError(
            .unsupported, "“\(provider)” has no client for \(service.rawValue); choose another provider for it.")
    }
}

extension ErrorCode {
    /// A mistake in the configuration; the message says where it is, what was found and what was expected.
    public static let invalidConfiguration = ErrorCode(rawValue: "invalidConfiguration")
    /// No module with that name was supplied.
    public static let unknownProvider = ErrorCode(rawValue: "unknownProvider")
    /// Another process, or another client in this process, uses the folder.
    public static let locked = ErrorCode(rawValue: "locked")
}

import Foundation

/// Why a call to a ``MessagingClient`` failed.
public struct MessagingError: ClientError {
    public static let area = "Messaging"
    public let details: ErrorDetails
    public init(_ details: ErrorDetails) { self.details = details }
}

extension ErrorCode {
    /// The user does not want messages.
    public static let permissionDenied = ErrorCode(rawValue: "permissionDenied")
    /// The app has not set the platform's push token yet.
    public static let noPlatformToken = ErrorCode(rawValue: "noPlatformToken")
    /// The registration is gone on the server; a new token comes on the stream.
    public static let unregistered = ErrorCode(rawValue: "unregistered")
}

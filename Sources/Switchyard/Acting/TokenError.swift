import Foundation

/// Why a token was not taken.
///
/// Each but `.unavailable`, `.cancelled`, `.unsupported` and `.shutDown` means that the request is not to be served: answer with
/// HTTP status 401.
public struct TokenError: ClientError {
    public static let area = "Token"
    public let details: ErrorDetails

    public init(_ details: ErrorDetails) { self.details = details }
}

extension ErrorCode {
    /// It is no token, or says something that no good token says.
    public static let malformedToken = ErrorCode(rawValue: "malformedToken")
    /// It was not signed by the issuer, or with another algorithm than the issuer's.
    public static let invalidSignature = ErrorCode(rawValue: "invalidSignature")
    public static let tokenExpired = ErrorCode(rawValue: "tokenExpired")
    /// It was given out in the future. Check this machine's clock.
    public static let tokenNotYetValid = ErrorCode(rawValue: "tokenNotYetValid")
    /// Another project has given it out, or it is meant for another one.
    public static let wrongProject = ErrorCode(rawValue: "wrongProject")
    /// The session that it belongs to was ended.
    public static let tokenRevoked = ErrorCode(rawValue: "tokenRevoked")
}

import Foundation

/// Why a token was not accepted.
///
/// Every code except `.unavailable`, `.deadlineExceeded`, `.failedPrecondition`, `.cancelled`, `.unsupported` and `.shutDown`
/// means that the token is not valid: respond with HTTP status 401.
public struct TokenError: ClientError {
    public static let area = "Token"
    public let details: ErrorDetails

    public init(_ details: ErrorDetails) { self.details = details }
}

extension ErrorCode {
    /// The text is not a token, or has claims that no valid token has.
    public static let malformedToken = ErrorCode(rawValue: "malformedToken")
    /// The issuer did not sign the token, or the algorithm is not the issuer's.
    public static let invalidSignature = ErrorCode(rawValue: "invalidSignature")
    public static let tokenExpired = ErrorCode(rawValue: "tokenExpired")
    /// The token was issued in the future. Check this machine's clock.
    public static let tokenNotYetValid = ErrorCode(rawValue: "tokenNotYetValid")
    /// The token is from another project, or meant for another one.
    public static let wrongProject = ErrorCode(rawValue: "wrongProject")
    /// The session of the token was ended.
    public static let tokenRevoked = ErrorCode(rawValue: "tokenRevoked")
}

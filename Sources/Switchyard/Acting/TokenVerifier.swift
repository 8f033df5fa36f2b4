/// Checks the tokens that requests bring to a server, and says whose they are.
///
/// ```swift
/// let verifier = try await project.tokenVerifier()
///
/// func handle(_ request: Request) async throws -> Response {
///     let caller = try await verifier.verify(authorization: request.headers["Authorization"])
///     return try await orders(of: caller.userID)
/// }
/// ```
/// Signatures are checked with the issuer's published keys, which are fetched once and kept for as long as the issuer says;
/// then a check takes microseconds and asks nobody.
public protocol TokenVerifier: Sendable {
    var provider: InfrastructureProvider { get }

    /// - Parameters:
    ///   - token: As the app has it from `accessToken()`.
    ///   - checksRevocation: Whether to ask the issuer, with one request, if the session or the account has been ended since the
    ///     token was given out. Without, an ended session's tokens are good until they run out.
    /// - Throws: A code that says why the token is not good; `.unavailable` where the issuer's keys cannot be fetched.
    func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken
}

extension TokenVerifier {
    public func verify(_ token: Secret) async throws(TokenError) -> VerifiedToken {
        try await verify(token, checksRevocation: false)
    }

    /// Checks the token of a request's header `Authorization`.
    ///
    /// - Parameters:
    ///   - header: `Bearer` and the token; `nil` where the request has none.
    ///   - checksRevocation: Whether the issuer is asked, too.
    public func verify(
        authorization header: String?, checksRevocation: Bool = false
    ) async throws(TokenError) -> VerifiedToken {
        let parts = (header ?? "").split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw TokenError(.unauthenticated, "The request has no bearer token. Sign in and send one.")
        }
        return try await verify(Secret(String(parts[1])), checksRevocation: checksRevocation)
    }
}

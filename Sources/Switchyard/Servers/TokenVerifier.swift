/// Verifies the tokens of requests to a server, and says whose they are.
///
/// ```swift
/// let verifier = try await backend.tokenVerifier()
///
/// func handle(_ request: Request) async throws -> Response {
///     let caller = try await verifier.verify(authorization: request.headers["Authorization"])
///     return try await answer(request, for: caller)
/// }
/// ```
/// Signatures are checked with the issuer's published keys, which are fetched once and kept for as long as the issuer allows.
/// A check then takes microseconds and needs no request.
public protocol TokenVerifier: Sendable {
    var provider: InfrastructureProvider { get }

    /// - Parameters:
    ///   - token: The token that the app got from `accessToken()`.
    ///   - checksRevocation: Whether to ask the issuer, with one request, if the session was ended or the account disabled since
    ///     the token was issued. Without it, tokens of an ended session are valid until they expire.
    /// - Throws: A code that says why the token is not valid; `.unavailable` if the issuer's keys cannot be fetched or the issuer
    ///   not be asked; `.failedPrecondition` if it refuses this server's own key or credential.
    func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken
}

extension TokenVerifier {
    public func verify(_ token: Secret) async throws(TokenError) -> VerifiedToken {
        try await verify(token, checksRevocation: false)
    }

    /// Checks the token of a request's header `Authorization`.
    ///
    /// - Parameters:
    ///   - header: `Bearer` and the token; `nil` if the request has none.
    ///   - checksRevocation: Whether to ask the issuer, too.
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

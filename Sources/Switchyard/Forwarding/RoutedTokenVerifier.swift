/// Forwards every check along the route.
extension Routed: TokenVerifier where Client == any TokenVerifier {
    package var provider: InfrastructureProvider { route.client?.provider ?? .unavailable }

    package func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken {
        try await route.call(.repeatable("verify token")) { verifier throws(TokenError) in
            try await verifier.verify(token, checksRevocation: checksRevocation)
        }
    }
}

/// A verifier that forwards every check along its route.
public protocol RoutedTokenVerifier: TokenVerifier {
    var route: any Route<any TokenVerifier> { get }
}

extension RoutedTokenVerifier {
    public var provider: InfrastructureProvider { route.client?.provider ?? .nobody }

    public func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken {
        try await route.call(.repeatable("verify token")) { verifier throws(TokenError) in
            try await verifier.verify(token, checksRevocation: checksRevocation)
        }
    }
}

extension Routed: TokenVerifier, RoutedTokenVerifier where Client == any TokenVerifier {}

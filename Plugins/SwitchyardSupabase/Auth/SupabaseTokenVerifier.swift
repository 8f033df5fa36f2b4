import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Verifies the tokens of a Supabase project with its published keys or its legacy secret.
final class SupabaseTokenVerifier: TokenVerifier {
    let provider: InfrastructureProvider = .supabase

    private let rules: TokenRules
    private let keys: PublishedKeys
    /// Initialized with the legacy secret, if there is one that can prove anything.
    private let code: HMACSHA256?
    private let service: SupabaseAuthService
    private let now: @Sendable () -> Timestamp

    /// The roles of keys, which belong to no user.
    private static let keyRoles: Set<String> = ["anon", "service_role"]

    init(_ context: SupabaseContext) {
        let (address, transport) = (context.project.auth, context.transport)
        rules = TokenRules(issuers: [address], audience: "authenticated")
        keys = PublishedKeys(
            address + "/.well-known/jwks.json", .keySet, transport: transport, clock: context.module.clock)
        code = context.configuration.jwtSecret.flatMap { secret in
            LegacySecret.problem(of: secret) == nil ? HMACSHA256(key: Array(secret.reveal().utf8)) : nil
        }
        service = SupabaseAuthService(
            address: address, apiKey: context.configuration.key, transport: transport,
            clock: context.module.clock, now: context.module.now)
        now = context.module.now
    }

    func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken {
        let web = try JSONWebToken(token)
        if let role = web.claims["role"]?.string, Self.keyRoles.contains(role) {
            throw TokenError(
                .malformedToken,
                "The token is a key of the project, not the token of a session. Sign in and send that session's token.")
        }
        // Check the project and the expiry first, so that tokens of other projects cause no key requests.
        let userID = try rules.check(web.claims, now: now().seconds)
        switch web.algorithm {
        case "HS256": try checkSecret(web)
        case "RS256", "ES256":
            guard TokenKey.isAvailable else { throw .noCryptography }
            let key = try await keys.key(web.keyID)
            guard key.algorithm.rawValue == web.algorithm, key.verifies(web.signature, of: web.signed) else {
                throw Self.foreign
            }
        default:
            throw TokenError(
                .invalidSignature, "The token is not signed with ES256, RS256 or HS256, as those of a project are.")
        }
        // Nothing is taken from `user_metadata`, which users write themselves, the service's own `email_verified` included.
        var verified = VerifiedToken(token, by: provider, of: userID, web.claims)
        verified.isAnonymous = web.claims["is_anonymous"]?.bool ?? false
        verified.identity = web.claims["app_metadata"]?["provider"]?.string.map { IdentityProvider(supabase: $0) }
        if checksRevocation {
            let user = try await lookUp(token, of: userID)
            let isSameAddress = user.email?.lowercased() == verified.email?.lowercased()
            verified.isEmailVerified = user.isEmailVerified && isSameAddress
        }
        return verified
    }

    private static let foreign = TokenError(.invalidSignature, "The project did not sign the token.")

    private func checkSecret(_ web: JSONWebToken) throws(TokenError) {
        guard var code else {
            throw TokenError(
                .unsupported,
                "The project signs with its legacy secret. Set Supabase's jwtSecret, of at least \(LegacySecret.minimum) "
                    + "bytes, or let the project use signing keys.")
        }
        code.update(web.signed)
        guard HMACSHA256.areEqual(web.signature, code.code()) else { throw Self.foreign }
    }

    /// Asks the service for the account, which it answers only while the session lasts.
    private func lookUp(_ token: Secret, of userID: AuthUser.ID) async throws(TokenError) -> AuthUser {
        let answer: JSON
        do throws(SupabaseAuthFailure) {
            answer = try await service.call(.get, "/user", as: token)
        } catch {
            throw TokenError(lookingUp: AuthError(error))
        }
        guard let user = AuthUser(supabase: answer), user.id == userID else {
            throw TokenError(
                .unavailable,
                "The session of the token could not be looked up: the project's answer is not its account.")
        }
        guard let account = ManagedAccount(supabase: answer, at: now()) else {
            throw TokenError(.tokenRevoked, "The account was deleted. Sign in again.")
        }
        // Services before July 2026 answer for banned users as for others.
        guard !account.isDisabled else { throw TokenError(.userDisabled, "The account is disabled.") }
        return user
    }
}

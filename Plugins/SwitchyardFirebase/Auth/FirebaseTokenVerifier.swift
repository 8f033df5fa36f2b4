import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Verifies the ID tokens and session cookies of a Firebase project, as the vendor's server libraries do.
///
/// Unsigned tokens are accepted only if the configuration itself names an Auth emulator: a variable that was left set somewhere
/// must not open a server to everybody.
final class FirebaseTokenVerifier: TokenVerifier {
    let provider: InfrastructureProvider = .firebase

    private struct Kind {
        let rules: TokenRules
        let keys: PublishedKeys
        let form: PublishedKeys.Form
    }

    private let idTokens: Kind
    private let cookies: Kind
    private let acceptsUnsigned: Bool
    private let isEmulatorByVariable: Bool
    private let revocation: FirebaseRevocationCheck
    private let now: @Sendable () -> Timestamp

    init(_ context: FirebaseContext) {
        let (project, endpoints) = (context.configuration.project, context.endpoints)
        let (transport, clock) = (context.transport, context.module.clock)
        func kind(_ issuer: String, _ path: String, _ form: PublishedKeys.Form) -> Kind {
            Kind(
                rules: TokenRules(issuers: ["\(issuer)/\(project)"], audience: project),
                keys: PublishedKeys(
                    endpoints.publishedKeys.address + path, form, transport: transport, clock: clock),
                form: form)
        }
        idTokens = kind(
            "https://securetoken.google.com", "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com", .keySet
        )
        cookies = kind(
            "https://session.firebase.google.com", "/identitytoolkit/v3/relyingparty/publicKeys", .certificates)
        acceptsUnsigned = context.configuration.emulators.auth != nil
        isEmulatorByVariable = endpoints.identityToolkit.isEmulator && !acceptsUnsigned
        revocation = FirebaseRevocationCheck(context)
        now = context.module.now
    }

    func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken {
        let web = try JSONWebToken(token)
        let kind = web.claims["iss"]?.string.map { cookies.rules.issuers.contains($0) } == true ? cookies : idTokens
        // Check the project and the expiry first, so that tokens of other projects cause no key requests.
        let userID = try kind.rules.check(web.claims, now: now().seconds)
        switch web.algorithm {
        case "RS256":
            guard TokenKey.isAvailable else { throw .noCryptography }
            let key = try await kind.keys.key(web.keyID)
            guard key.algorithm == .rs256, key.verifies(web.signature, of: web.signed) else {
                throw TokenError(.invalidSignature, "The project did not sign the token.")
            }
        case "none" where acceptsUnsigned && web.signature.isEmpty: break
        case "none" where isEmulatorByVariable:
            throw TokenError(
                .invalidSignature,
                "The token is not signed. To accept an emulator's tokens, set emulators.auth in Firebase's configuration: the "
                    + "variable FIREBASE_AUTH_EMULATOR_HOST alone does not allow them.")
        default:
            throw TokenError(
                .invalidSignature,
                "The token is not signed with RS256, as every token of a Firebase project is. Is it an emulator's?")
        }
        if checksRevocation {
            try await revocation.check(token, of: userID, web.claims, isCookie: kind.form == .certificates)
        }
        var verified = VerifiedToken(token, by: provider, of: userID, web.claims)
        if let method = web.claims["firebase"]?["sign_in_provider"]?.string {
            verified.isAnonymous = method == "anonymous"
            verified.identity = IdentityProvider(rawValue: method)
        }
        return verified
    }
}

/// Asks the project whether the account of a valid token still exists and its session has not ended.
struct FirebaseRevocationCheck: Sendable {
    /// How accounts are looked up.
    private enum AccountLookup: Sendable {
        /// In the project's name, by account ID, for any kind of token.
        case project(FirebaseAdminService)
        /// With the API key and the ID token itself.
        case key(FirebaseAuthService)
        case nothing
    }

    private let lookup: AccountLookup

    init(_ context: FirebaseContext) {
        if let tokens = try? context.credential(for: context.endpoints.identityToolkit) {
            lookup = .project(FirebaseAdminService(context, tokens))
        } else if !context.configuration.apiKey.isEmpty {
            lookup = .key(FirebaseAuthService(context))
        } else {
            lookup = .nothing
        }
    }

    /// - Parameters:
    ///   - claims: The token's claims, whose signature is already verified.
    ///   - isCookie: Whether it is a session cookie, which cannot be looked up with the API key.
    func check(
        _ token: Secret, of userID: AuthUser.ID, _ claims: JSONObject, isCookie: Bool
    ) async throws(TokenError) {
        let answer: JSON
        do throws(AuthError) {
            switch lookup {
            case .project(let service):
                answer = try await service.post("accounts:lookup", ["localId": .array([.string(userID)])])
            case .key(let service) where !isCookie: answer = try await Self.lookUp(token, with: service)
            case .key, .nothing:
                throw AuthError.unsupported(
                    isCookie
                        ? "looking up a session cookie with an API key" : "looking up a token without a credential",
                    by: .firebase,
                    instead:
                        "Set credential in Firebase's configuration to the path of a service account's key file, or to "
                        + "applicationDefault; never in an app.")
            }
        } catch {
            throw TokenError(lookingUp: error)
        }
        let account = answer["users"]?[0]
        if account?["disabled"]?.bool == true { throw TokenError(.userDisabled, "The account is disabled.") }
        let since = account?["validSince"]?.string.flatMap { Int64($0) } ?? 0
        guard account != nil, claims["auth_time"]?.int64 ?? .max >= since else {
            throw TokenError(.tokenRevoked, "The session was ended. Sign in again.")
        }
    }

    private static func lookUp(
        _ token: Secret, with service: FirebaseAuthService
    ) async throws(AuthError) -> JSON {
        do throws(FirebaseAuthFailure) {
            return try await service.post("/v1/accounts:lookup", ["idToken": .string(token.reveal())])
        } catch {
            throw AuthError(error, in: .account)
        }
    }
}

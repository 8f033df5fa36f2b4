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

    init(_ surroundings: FirebaseContext) {
        let (project, endpoints) = (surroundings.configuration.project, surroundings.endpoints)
        let (transport, clock) = (surroundings.transport, surroundings.context.clock)
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
        acceptsUnsigned = surroundings.configuration.emulators.auth != nil
        isEmulatorByVariable = endpoints.identityToolkit.isEmulator && !acceptsUnsigned
        revocation = FirebaseRevocationCheck(surroundings)
        now = surroundings.context.now
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
                throw TokenError(.invalidSignature, "The project has not signed the token.")
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

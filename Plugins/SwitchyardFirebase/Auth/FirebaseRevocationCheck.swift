import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP

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

    private let means: AccountLookup

    init(_ surroundings: FirebaseContext) {
        if let tokens = try? surroundings.credential(for: surroundings.endpoints.identityToolkit) {
            means = .project(FirebaseAdminService(surroundings, tokens))
        } else if !surroundings.configuration.apiKey.isEmpty {
            means = .key(FirebaseAuthService(surroundings))
        } else {
            means = .nothing
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
            switch means {
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

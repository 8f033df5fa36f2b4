import Switchyard
import SwitchyardBytes

/// Why a project cannot use a valid token of another provider.
///
/// It is the underlying error of the call's error, which has the same text.
public enum SupabaseTokenProblem: Error, Sendable, Hashable {
    /// It is not a JSON web token; a project accepts nothing else.
    case noWebToken
    /// The token lacks this claim. Without `role`, the project would answer as if no user were signed in, with empty results
    /// instead of errors.
    case missingClaim(String)
    /// The project does not trust the issuer of the token.
    case unknownIssuer
    /// A policy requires the claim `sub` to be a UUID, as `auth.uid()` does, but this issuer's is not one.
    case subjectIsNoUUID

    /// Checks a token before it is sent; `nil` if no problem is found.
    init?(_ token: Secret) {
        guard let claims = SupabaseGrant.claims(of: token.reveal()) else {
            self = .noWebToken
            return
        }
        for name in ["role", "sub"] where claims[name]?.string?.isEmpty != false {
            self = .missingClaim(name)
            return
        }
        return nil
    }

    /// Derives the problem from an answer of the database.
    ///
    /// - Parameters:
    ///   - code: The database's code; `nil` if the service omits it.
    ///   - text: The text of the answer.
    init?(code: String?, text: String, user: AccessToken?) {
        guard code == nil || code == "22P02", text.includes("invalid input syntax for type uuid"), let user,
            !SupabaseTokenProblem.hasUUID(user.value, or: user.userID)
        else { return nil }
        self = .subjectIsNoUUID
    }

    /// Whether a token's subject is a UUID, as `auth.uid()` requires.
    static func hasUUID(_ token: Secret, or subject: String = "") -> Bool {
        isUUID(SupabaseGrant.claims(of: token.reveal())?["sub"]?.string ?? subject)
    }

    func message(_ issuer: InfrastructureProvider?) -> String {
        let name = issuer.map { "of “\($0)” " } ?? ""
        return switch self {
        case .noWebToken: "The token \(name)is not a JSON web token, the only kind the project accepts."
        case .missingClaim("role"):
            "The token \(name)lacks the claim “role”. Have its issuer set it to “authenticated”, then refresh the token."
        case .missingClaim(let claim): "The token \(name)lacks the claim “\(claim)”."
        case .unknownIssuer:
            "The project does not accept the token \(name)since it does not know its issuer. "
                + "Add the issuer in the dashboard: Authentication, Third-party auth. Start a local Supabase with "
                + "--trust-firebase URL, or both with “switchyard emulator all”."
        case .subjectIsNoUUID:
            "A policy expects the claim “sub” to be a UUID; in the token \(name)it is not. "
                + "Compare auth.jwt() ->> 'sub' instead of auth.uid()."
        }
    }

    private static func isUUID(_ text: String) -> Bool {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        return digits.count == 32
            && digits.allSatisfy { (48...57).contains($0) || (65...70).contains($0) || (97...102).contains($0) }
    }
}

import Switchyard
import SwitchyardBytes

/// Why a genuine token of another provider is of no use to a project. It lies under the error of the call, whose text says
/// the same.
public enum SupabaseTokenProblem: Error, Sendable, Hashable {
    /// It is not a JSON web token; a project understands nothing else.
    case noWebToken
    /// The token does not have this claim. Without `role`, the project would answer as if nobody were signed in, with
    /// empty results instead of errors.
    case missingClaim(String)
    /// The project does not trust the issuer of the token.
    case unknownIssuer
    /// A policy expects the claim `sub` to be a UUID, as `auth.uid()` does, and this issuer's is not one.
    case subjectIsNoUUID

    /// What is wrong with a token before it is sent; `nil` when nothing is seen.
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

    /// What an answer of the database says of the token that it was asked with.
    ///
    /// - Parameters:
    ///   - code: The database's; `nil` where the service does not pass it on.
    ///   - text: The answer's words.
    init?(code: String?, text: String, user: AccessToken?) {
        guard code == nil || code == "22P02", text.contains("invalid input syntax for type uuid"), let user,
            !SupabaseTokenProblem.hasUUID(user.value, or: user.userID)
        else { return nil }
        self = .subjectIsNoUUID
    }

    /// Whether the subject of a token is what `auth.uid()` takes it for.
    static func hasUUID(_ token: Secret, or subject: String = "") -> Bool {
        isUUID(SupabaseGrant.claims(of: token.reveal())?["sub"]?.string ?? subject)
    }

    func message(_ issuer: InfrastructureProvider?) -> String {
        let name = issuer.map { "of “\($0)” " } ?? ""
        return switch self {
        case .noWebToken: "The token \(name)is not a JSON web token, the only kind the project accepts."
        case .missingClaim("role"):
            "The token \(name)has no claim “role”. Let its issuer say “authenticated” there, then refresh."
        case .missingClaim(let claim): "The token \(name)has no claim “\(claim)”."
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

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Who sent a request, as its token says. The server itself has checked it, or refused the request.
struct Who: Sendable, Equatable {
    enum Kind: String, Sendable { case project, user, anonymous, signedOut }

    let kind: Kind
    var id: String?
    /// The claims of the token.
    var claims: JSONObject = [:]

    static let signedOut = Who(kind: .signedOut)
    static let project = Who(kind: .project)

    init(kind: Kind, id: String? = nil, claims: JSONObject = [:]) {
        self.kind = kind
        self.id = id
        self.claims = claims
    }

    /// - Parameters:
    ///   - authorization: The header of that name.
    ///   - key: The key of a Supabase project.
    init(authorization: String?, key: String? = nil) {
        let words = (authorization ?? "").split(separator: " ")
        let token = words.count == 2 ? String(words[1]) : key ?? ""
        if token == "owner" {
            self = .project
            return
        }
        guard let claims = Self.claims(of: token) else {
            self = token.hasPrefix("sb_secret_") || token.hasPrefix("ya29.") ? .project : .signedOut
            return
        }
        if claims["role"]?.string == "service_role" {
            self = Who(kind: .project, claims: claims)
            return
        }
        guard let id = claims["sub"]?.string, !id.isEmpty else {
            self = Who(kind: .signedOut, claims: claims)
            return
        }
        let isAnonymous =
            claims["is_anonymous"]?.bool == true || claims["firebase"]?["sign_in_provider"]?.string == "anonymous"
        self = Who(kind: isAnonymous ? .anonymous : .user, id: id, claims: claims)
    }

    static func claims(of token: String) -> JSONObject? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1], alphabet: .url) else { return nil }
        return (try? JSON(parsing: bytes))?.object
    }

    var json: JSON { .object(["kind": .string(kind.rawValue), "id": .text(id)]) }
}

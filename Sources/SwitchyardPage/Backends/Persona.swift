import SwitchyardBytes

/// As whom the page reads and writes.
enum Persona: Hashable, Sendable {
    /// With the credential of the project, which bypasses rules and policies.
    case project
    case signedOut
    case user(User)

    struct User: Hashable, Sendable {
        let id: String
        /// Additional claims of the token.
        var claims: JSONObject = [:]
        /// Such as “aal2”; `nil` for a session without a second factor.
        var assurance: String?
    }

    init(_ json: JSON?) throws(PageFailure) {
        guard let json, !json.isNull else {
            self = .project
            return
        }
        if json["signedOut"]?.bool == true {
            self = .signedOut
            return
        }
        guard let id = json["user"]?.string, !id.isEmpty else {
            throw .invalid("“as” is null, {\"signedOut\":true} or {\"user\":ID}.")
        }
        var user = User(id: id)
        if let claims = json["claims"], !claims.isNull {
            guard let object = claims.object else { throw .invalid("“claims” has to be an object.") }
            user.claims = object
        }
        if let assurance = json["assurance"], !assurance.isNull {
            guard let text = assurance.string, ["aal1", "aal2"].contains(text) else {
                throw .invalid("“assurance” is aal1 or aal2.")
            }
            user.assurance = text
        }
        self = .user(user)
    }
}

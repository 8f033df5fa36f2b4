import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// A refusal of the vendor's auth service, in one of its three formats.
struct AuthRefusal: Error, Sendable {
    let status: Int
    let code: String
    let message: String
    /// Further members of the body.
    var more = JSONObject()
    /// Whether the call's changes so far are kept, as when a stolen token ends a session.
    var keepsChanges = false
    /// Whether somebody else wrote the same address or number into the tables while the call was running.
    private(set) var isRace = false
    private var isOAuth = false

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// The API version from which refusals have the member `code`.
    private static let presentShape = "2024-01-01"

    /// - Parameter version: The API version in the request.
    func response(for version: String?) -> ServerResponse {
        let isPresent = (version ?? "") >= AuthRefusal.presentShape
        var body: JSONObject
        if isOAuth {
            body = ["error": .string(code), "error_description": .string(message)]
        } else if isPresent {
            body = ["code": .string(code), "message": .string(message)]
        } else {
            body = ["code": .integer(Int64(status)), "error_code": .string(code), "msg": .string(message)]
        }
        for member in more { body[member.key] = member.value }
        var response = ServerResponse.json(JSON.object(body).bytes(), status: status)
        if !isOAuth { response.headers["x-sb-error-code"] = code }
        if isPresent { response.headers["X-Supabase-Api-Version"] = AuthRefusal.presentShape }
        return response
    }

    // MARK: Common refusals

    static func invalid(_ message: String) -> AuthRefusal { AuthRefusal(400, "validation_failed", message) }
    static func oauth(_ description: String) -> AuthRefusal {
        var refusal = AuthRefusal(400, "invalid request", description)
        refusal.isOAuth = true
        return refusal
    }
    static let wrongCredentials = AuthRefusal(400, "invalid_credentials", "Invalid login credentials")
    static let wrongCode = AuthRefusal(403, "otp_expired", "Token has expired or is invalid")
    /// The same for codes in links.
    static let wrongLink = AuthRefusal(403, "otp_expired", "Email link is invalid or has expired")
    static let banned = AuthRefusal(400, "user_banned", "User is banned")
    static let badJSON = AuthRefusal(400, "bad_json", "Could not parse request body as JSON")
    static let noBearer = AuthRefusal(401, "no_authorization", "This endpoint requires a valid Bearer token")
    static let notAdmin = AuthRefusal(403, "not_admin", "User not allowed")
    static let insufficientLevel = AuthRefusal(401, "insufficient_aal", "AAL2 session is required to do this")

    static func emailTaken(_ code: String = "email_exists") -> AuthRefusal {
        AuthRefusal(422, code, "A user with this email address has already been registered")
    }

    /// A refusal by the database, usually by one of the project's own triggers.
    init(_ failure: PostgresFailure) {
        self.init(500, "unexpected_failure", "Database error: \(failure.message)")
        isRace =
            failure.code == "23505" && ["\"users_email", "\"users_phone"].contains { failure.message.includes($0) }
    }
}

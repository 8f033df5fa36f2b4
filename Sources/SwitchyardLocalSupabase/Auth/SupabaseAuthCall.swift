import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// One call to the auth service, with its context.
struct SupabaseAuthCall: Sendable {
    let request: ServerRequest
    let fields: JSONObject
    let tables: AuthTables

    /// Whole seconds, as tokens count.
    var seconds: Int64 { tables.seconds }

    /// `nil` also if empty, as with the vendor.
    func text(_ name: String) -> String? { fields[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }

    func object(_ name: String) -> JSONObject { fields[name]?.object ?? [:] }

    /// The final target of a link in an email, or of a browser.
    var redirect: String? { request.query("redirect_to") ?? request.headers["redirect_to"] }

    /// The address in this field, in lower case.
    func email(_ name: String = "email") throws(AuthRefusal) -> String? {
        guard let text = text(name) else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.utf8.count < 256,
            parts[0].utf8.allSatisfy({ Self.isLetter($0) || ".!#$%&'*+/=?^_`{|}~-".utf8.contains($0) }),
            parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { Self.isLetter($0) || $0 == UInt8(ascii: "-") }
            })
        else { throw .invalid("Unable to validate email address: invalid format") }
        return text.lowercased()
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 32)
    }

    /// The number in this field: digits, without the plus sign.
    func phone(_ name: String = "phone") throws(AuthRefusal) -> String? {
        guard let text = text(name) else { return nil }
        let digits = text.filter { $0 != "+" && $0 != " " }
        guard (2...15).contains(digits.utf8.count), digits.first != "0",
            digits.utf8.allSatisfy({ (48...57).contains($0) })
        else { throw .invalid("Invalid phone number format (E.164 required)") }
        return digits
    }

    /// Checks the way that a message is to take. Others than SMS need certain companies to send it.
    func checkChannel() throws(AuthRefusal) {
        guard ["sms", nil].contains(text("channel")) else {
            throw .invalid(
                "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio "
                    + "Verify is used as the provider.")
        }
    }

    /// The challenge of a sign-in that is completed with a verifier.
    func challenge(_ value: (String) -> String?) throws(AuthRefusal) -> AuthChallenge? {
        let (text, method) = (value("code_challenge"), value("code_challenge_method"))
        guard text != nil || method != nil else { return nil }
        guard let text, let method = method?.lowercased() else {
            throw .invalid("PKCE flow requires code_challenge_method and code_challenge")
        }
        guard AuthChallenge.isWellFormed(text) else {
            throw .invalid("code challenge has to be between 43 and 128 characters of the unreserved ones")
        }
        return AuthChallenge(text: text, method: method)
    }
}

/// Derived from a secret that the client proves at the end of a browser sign-in to show that it began it.
struct AuthChallenge: Hashable, Sendable {
    let text: String
    let method: String

    static func isWellFormed(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || "-._~".utf8.contains($0)
            }
    }

    /// As with the vendor, an unknown method fails only where a code would have to be made for it.
    func checkMethod() throws(AuthRefusal) {
        guard ["s256", "plain"].contains(method) else {
            throw AuthRefusal(
                500, "unexpected_failure", "Unexpected failure, please check server logs for more information")
        }
    }

    func isMet(by verifier: String) -> Bool {
        switch method {
        case "plain": verifier == text
        default: Base64.encode(SHA256.digest(of: Array(verifier.utf8)), alphabet: .url) == text
        }
    }
}

/// A refusal of the vendor's auth service, in one of its three formats.
struct AuthRefusal: Error, Sendable {
    let status: Int
    let code: String
    let message: String
    /// Further members of the body.
    var more = JSONObject()
    /// Whether the call's changes so far are committed, as when a stolen token ends a session.
    var keepsChanges = false
    /// Whether someone else wrote the same address or number into the tables while the call was running.
    private(set) var isRace = false
    private var isOAuth = false

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// The API version from which refusals have the member `code`.
    private static let currentVersion = "2024-01-01"

    /// - Parameter version: The API version in the request.
    func response(for version: String?) -> ServerResponse {
        let isCurrent = (version ?? "") >= AuthRefusal.currentVersion
        var body: JSONObject
        if isOAuth {
            body = ["error": .string(code), "error_description": .string(message)]
        } else if isCurrent {
            body = ["code": .string(code), "message": .string(message)]
        } else {
            body = ["code": .integer(Int64(status)), "error_code": .string(code), "msg": .string(message)]
        }
        for member in more { body[member.key] = member.value }
        var response = ServerResponse.json(JSON.object(body).bytes(), status: status)
        if !isOAuth { response.headers["x-sb-error-code"] = code }
        if isCurrent { response.headers["X-Supabase-Api-Version"] = AuthRefusal.currentVersion }
        return response
    }

    // MARK: Common refusals

    /// A part of the vendor's service that a project has to switch on, and that does not exist here.
    static func disabled(_ what: String, _ code: String = "feature_disabled") -> AuthRefusal {
        AuthRefusal(404, code, what)
    }
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

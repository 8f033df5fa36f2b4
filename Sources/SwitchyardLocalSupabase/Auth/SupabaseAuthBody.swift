import SwitchyardBytes

/// The members of a call's body with the types that the vendor gives them. A value of another type is refused in the vendor's
/// words, and `null` counts as missing.
struct SupabaseAuthBody: Sendable {
    private enum Kind: String, Sendable {
        case text = "string"
        case flag = "bool"
        case object = "map[string]interface {}"

        func fits(_ value: JSON) -> Bool {
            switch (self, value) {
            case (_, .null), (.text, .string), (.flag, .bool), (.object, .object): true
            default: false
            }
        }
    }

    /// The vendor's name for the body.
    private let name: String
    private let kinds: [String: Kind]

    private init(_ name: String, texts: String, flags: String = "", objects: String = "") {
        self.name = name
        var kinds: [String: Kind] = [:]
        for (names, kind) in [(texts, Kind.text), (flags, .flag), (objects, .object)] {
            for name in names.split(separator: " ") { kinds[String(name)] = kind }
        }
        self.kinds = kinds
    }

    func check(_ fields: JSONObject) throws(AuthRefusal) {
        for member in fields {
            guard let kind = kinds[member.key], !kind.fits(member.value) else { continue }
            throw AuthRefusal(
                400, "bad_json",
                "Could not parse request body as JSON: json: cannot unmarshal \(Self.word(for: member.value)) into Go struct field "
                    + "\(name).\(member.key) of type \(kind.rawValue)")
        }
    }

    private static func word(for value: JSON) -> String {
        switch value {
        case .string: "string"
        case .bool: "bool"
        case .array: "array"
        case .object: "object"
        default: "number"
        }
    }

    private static let challenge = " code_challenge code_challenge_method"

    static let signUp = Self(
        "SignupParams", texts: "email phone password channel" + challenge, objects: "data")
    static let password = Self("PasswordGrantParams", texts: "email phone password")
    static let refresh = Self("RefreshTokenGrantParams", texts: "refresh_token")
    static let code = Self("PKCEGrantParams", texts: "auth_code code_verifier")
    static let identity = Self(
        "IdTokenGrantParams", texts: "id_token access_token nonce provider client_id issuer", flags: "link_identity")
    static let signInCode = Self(
        "OtpParams", texts: "email phone channel" + challenge, flags: "create_user", objects: "data")
    static let magicLink = Self("MagicLinkParams", texts: "email" + challenge, objects: "data")
    static let verify = Self("VerifyParams", texts: "type token token_hash email phone redirect_to")
    static let recover = Self("RecoverParams", texts: "email" + challenge)
    static let resend = Self("ResendConfirmationParams", texts: "type email phone" + challenge)
    static let user = Self(
        "UserUpdateParams", texts: "email password nonce phone channel current_password" + challenge,
        objects: "data app_metadata")
    static let factor = Self("EnrollFactorParams", texts: "friendly_name factor_type issuer phone")
    static let factorCode = Self("VerifyFactorParams", texts: "challenge_id code")
    static let administered = Self(
        "AdminUserParams", texts: "id aud role email phone password password_hash ban_duration",
        flags: "email_confirm phone_confirm", objects: "user_metadata app_metadata")
    static let deletion = Self("adminUserDeleteParams", texts: "", flags: "should_soft_delete")
    static let invitation = Self("InviteParams", texts: "email", objects: "data")
    static let link = Self("GenerateLinkParams", texts: "type email new_email password redirect_to", objects: "data")
}

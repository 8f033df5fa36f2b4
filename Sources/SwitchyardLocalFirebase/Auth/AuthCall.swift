import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// One call to the auth service, with its context.
struct AuthCall: Sendable {
    /// The body, with its keys in camel case.
    let fields: JSONObject
    /// Whether the caller is the developer, who may act on every account.
    let isAdmin: Bool
    let now: Timestamp
    let project: String
    /// This server's address, for links.
    let origin: String
    let seal: ServerSigningKey
    let signer: LocalTokenSigner
    /// The claims of every new account, as JSON text.
    let claims: String?

    /// Whole seconds, as tokens count.
    var seconds: Int64 { now.seconds }
    var milliseconds: Int64 { now.microseconds / 1000 }

    /// `nil` also if empty, as with the vendor. Accepts numbers as text.
    func text(_ name: String) -> String? {
        switch fields[name] {
        case .string(let text)?: text.isEmpty ? nil : text
        case .integer(let number)?: String(number)
        default: nil
        }
    }

    func flag(_ name: String) -> Bool? {
        switch fields[name] {
        case .bool(let flag)?: flag
        case .string(let text)?: text == "true"
        case .integer(let number)?: number != 0
        default: nil
        }
    }

    func object(_ name: String) -> AuthCall {
        AuthCall(
            fields: AuthCall.camelCased(fields[name]?.object ?? JSONObject()), isAdmin: isAdmin, now: now,
            project: project, origin: origin, seal: seal, signer: signer, claims: claims)
    }

    func list(_ name: String) -> [String] { fields[name]?.array?.compactMap(\.string) ?? [] }

    func required(_ name: String, or message: String) throws(AuthFailure) -> String {
        guard let text = text(name) else { throw AuthFailure(message) }
        return text
    }

    /// An address. An empty one is malformed, not missing.
    func address(_ name: String = "email", or message: String) throws(AuthFailure) -> String {
        guard fields[name] != nil else { throw AuthFailure(message) }
        return try AccountDatabase.email(text(name) ?? "")
    }

    static func camelCased(_ object: JSONObject) -> JSONObject {
        JSONObject(object.members.map { (key: camelCased($0.key), value: $0.value) })
    }

    private static func camelCased(_ name: String) -> String {
        guard name.contains("_") else { return name }
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}

/// Checks the types of a body's members, for all calls.
extension AuthCall {
    private enum Kind {
        case text, flag, list
        case oneOf(Set<String>)
    }

    private static let kinds: [String: Kind] = [
        "email": .text, "password": .text, "displayName": .text, "photoUrl": .text, "idToken": .text, "oobCode": .text,
        "newPassword": .text, "newEmail": .text, "customAttributes": .text, "continueUrl": .text, "postBody": .text,
        "requestUri": .text, "refreshToken": .text, "returnSecureToken": .flag, "emailVerified": .flag,
        "disableUser": .flag, "returnOobLink": .flag, "deleteAttribute": .list, "deleteProvider": .list,
        "requestType": .oneOf([
            "OOB_REQ_TYPE_UNSPECIFIED", "PASSWORD_RESET", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT", "VERIFY_EMAIL",
            "RECOVER_EMAIL", "EMAIL_SIGNIN", "VERIFY_AND_CHANGE_EMAIL", "REVERT_SECOND_FACTOR_ADDITION",
        ]),
    ]

    private static let attributes: Set = [
        "USER_ATTRIBUTE_NAME_UNSPECIFIED", "EMAIL", "DISPLAY_NAME", "PROVIDER", "PHOTO_URL", "PASSWORD",
        "RAW_USER_INFO",
    ]

    /// - Throws: Names the first member with a wrong type.
    func checkShape(of name: String) throws(AuthFailure) {
        let isLookup = name == "accounts:lookup"
        for (key, value) in fields.members.map({ ($0.key, $0.value) }) {
            // Lookups take lists of users.
            if isLookup, ["localId", "email", "phoneNumber"].contains(key) {
                guard value.array != nil else { throw .malformed("/\(key)", "must be array") }
                continue
            }
            switch Self.kinds[key] {
            // Like the vendor, accept values that can be converted to the type.
            case .text?:
                guard !value.isNull, value.array == nil, value.object == nil else {
                    throw .malformed("/\(key)", "must be string")
                }
            case .flag?:
                guard value.bool != nil || value.int != nil || ["true", "false"].contains(value.string) else {
                    throw .malformed("/\(key)", "must be boolean")
                }
            case .list?: guard value.array != nil else { throw .malformed("/\(key)", "must be array") }
            case .oneOf(let allowed)?:
                guard value.int != nil || allowed.contains(value.string ?? "") else {
                    throw .malformed("/\(key)", "must be equal to one of the allowed values")
                }
            case nil: break
            }
        }
        for (index, attribute) in (fields["deleteAttribute"]?.array ?? []).enumerated()
        where !Self.attributes.contains(attribute.string ?? "") {
            throw .malformed("/deleteAttribute/\(index)", "must be equal to one of the allowed values")
        }
    }

    /// A web address, with a scheme and a host.
    static func isAddress(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "://"), end.lowerBound > text.startIndex else { return false }
        let scheme = text[..<end.lowerBound]
        guard scheme.utf8.allSatisfy({ (97...122).contains($0 | 32) || "+-.0123456789".utf8.contains($0) }) else {
            return false
        }
        let host = text[end.upperBound...].prefix { !"/?#".contains($0) }
        return !host.isEmpty && !text.contains(where: \.isWhitespace)
    }
}

/// The refusal of a call to the auth service: almost always HTTP 400, with the actual reason in the message.
struct AuthFailure: Error {
    let message: String
    let code: Int
    let status: String?
    private let reason: String

    init(_ message: String, code: Int = 400, status: String? = nil, reason: String = "invalid") {
        self.message = message
        self.code = code
        self.status = status
        self.reason = reason
    }

    var body: JSON {
        var error: JSONObject = [
            "code": .integer(Int64(code)), "message": .string(message),
        ]
        var detail: JSONObject = ["message": .string(message), "reason": .string(reason)]
        // For unknown calls, the vendor omits the domain.
        if ["invalid", "forbidden", "parseError"].contains(reason) { detail["domain"] = "global" }
        if reason == "authError" {
            detail = [
                "message": "Invalid Credentials", "domain": "global", "reason": .string(reason),
                "location": "Authorization", "locationType": "header",
            ]
        }
        error["errors"] = [.object(detail)]
        if let status { error["status"] = .string(status) }
        return ["error": .object(error)]
    }

    static let missingKey = AuthFailure(
        "The request is missing a valid API key.", code: 403, status: "PERMISSION_DENIED", reason: "forbidden")
    static let badCredentials = AuthFailure(
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
        code: 401, status: "UNAUTHENTICATED", reason: "authError")
    static let badJSON = AuthFailure(
        "Invalid JSON payload received. Unexpected end of JSON input", status: "INVALID_ARGUMENT", reason: "parseError")
    static let notFound = AuthFailure("Not Found", code: 404, status: "NOT_FOUND", reason: "notFound")
    static func badContentType(_ type: String) -> AuthFailure {
        AuthFailure("Invalid content-type: \(type)", reason: "unknown")
    }
    static let insufficientPermission = AuthFailure("INSUFFICIENT_PERMISSION")
    static let badPhoneNumber = AuthFailure("INVALID_PHONE_NUMBER : Invalid format.")

    /// For calls that the vendor's emulator does not support either. It has the same message, since clients branch on it, and
    /// changes nothing.
    static func notImplemented(_ message: String) -> AuthFailure {
        AuthFailure(message, code: 501, status: "NOT_IMPLEMENTED", reason: "unimplemented")
    }

    /// An invalid member of the body.
    static func malformed(_ path: String, _ rule: String) -> AuthFailure {
        AuthFailure("Invalid JSON payload received. \(path) \(rule)", status: "INVALID_ARGUMENT")
    }
}

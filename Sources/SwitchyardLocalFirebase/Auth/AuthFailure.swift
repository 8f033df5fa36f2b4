import SwitchyardBytes

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
        error["errors"] = [.object(detail)]
        if let status { error["status"] = .string(status) }
        return ["error": .object(error)]
    }

    static let missingKey = AuthFailure(
        "The request is missing a valid API key.", code: 403, status: "PERMISSION_DENIED", reason: "forbidden")
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

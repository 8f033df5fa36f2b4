import SwitchyardBytes

/// The refusal of a call to the auth service: almost always HTTP 400, with the truth in the message.
struct AuthFailure: Error {
    let message: String
    let code: Int
    let status: String?

    init(_ message: String, code: Int = 400, status: String? = nil) {
        self.message = message
        self.code = code
        self.status = status
    }

    var body: JSON {
        var error: JSONObject = [
            "code": .integer(Int64(code)), "message": .string(message),
            "errors": [["message": .string(message), "domain": "global", "reason": "invalid"]],
        ]
        if let status { error["status"] = .string(status) }
        return ["error": .object(error)]
    }

    static let missingKey = AuthFailure(
        "The request is missing a valid API key.", code: 403, status: "PERMISSION_DENIED")
    static let badJSON = AuthFailure("Invalid JSON payload received.", status: "INVALID_ARGUMENT")
    static let notFound = AuthFailure("Not Found", code: 404, status: "NOT_FOUND")

    static func notImplemented(_ what: String) -> AuthFailure {
        AuthFailure("\(what) is not part of the local auth service.", code: 501, status: "NOT_IMPLEMENTED")
    }
}

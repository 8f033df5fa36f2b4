import SwitchyardBytes

/// The refusal of a call about installations, registrations, topics or messages.
struct MessagingFailure: Error {
    let code: Int
    let status: String
    let message: String
    /// Messaging's own code, which is more specific than the status.
    var errorCode: String?

    init(_ code: Int, _ status: String, _ message: String, errorCode: String? = nil) {
        self.code = code
        self.status = status
        self.message = message
        self.errorCode = errorCode
    }

    var body: JSON {
        var error: JSONObject = [
            "code": .integer(Int64(code)), "message": .string(message), "status": .string(status),
        ]
        if let errorCode {
            error["details"] = [
                [
                    "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                    "errorCode": .string(errorCode),
                ]
            ]
        }
        return ["error": .object(error)]
    }

    static func invalid(_ message: String) -> MessagingFailure {
        MessagingFailure(400, "INVALID_ARGUMENT", message, errorCode: "INVALID_ARGUMENT")
    }
    static let unauthenticated = MessagingFailure(
        401, "UNAUTHENTICATED", "Request is missing required authentication credential.")
    static let notFound = MessagingFailure(404, "NOT_FOUND", "Requested entity was not found.")
    static let unregistered = MessagingFailure(
        404, "NOT_FOUND", "Requested entity was not found.", errorCode: "UNREGISTERED")
    static let missingKey = MessagingFailure(
        403, "PERMISSION_DENIED", "The request is missing a valid API key.")
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// A refusal of the vendor's file service: nearly always HTTP 400, with the actual status in the body.
struct LocalSupabaseFileError: Error, Sendable {
    /// The actual status.
    let status: Int
    let code: String
    /// The name used by older clients.
    let error: String
    let message: String
    /// Whether the response is plain text with the actual status, as for resumable uploads.
    var isPlain = false
    /// Whether the response has the actual status, unlike most.
    private var hasActualStatus = false
    /// Whether the gateway in front of the service refuses, in its own format.
    private(set) var isOfGateway = false

    init(_ status: Int, _ code: String, _ message: String, error: String? = nil) {
        self.status = status
        self.code = code
        self.error = error ?? code
        self.message = message
    }

    init(_ refusal: SupabaseToken.Refusal) {
        let message =
            switch refusal {
            case .undecodable: "Invalid Compact JWS"
            case .wrongSignature: "signature verification failed: the JWT is another project's"
            case .expired: "\"exp\" claim timestamp check failed"
            case .notYetValid: "\"nbf\" claim timestamp check failed"
            case .fromTheFuture: "\"iat\" claim timestamp check failed (it should be in the past)"
            case .malformedClaim(let name): "\"\(name)\" claim must be a number"
            case .unknownRole(let role): "role \"\(role)\" in the JWT does not exist"
            }
        self = .accessDenied(message)
    }

    init(_ failure: PostgresFailure) {
        switch failure.code {
        case "42501": self = .accessDenied("new row violates row-level security policy")
        case "23505": self = .keyAlreadyExists
        case "23503": self = .noSuchBucket
        // A zero byte, which the database cannot store as text.
        case "22021", "22P05": self = .invalidRequest("The request contains U+0000 or text that is not UTF-8")
        case "57014": self.init(544, "DatabaseTimeout", "The connection to the database timed out")
        case "25006": self.init(503, "DatabaseReadOnly", "The database is read-only")
        // The database is restarting, or full.
        case let code where code.hasPrefix("08") || code.hasPrefix("57P") || code.hasPrefix("53"):
            self.init(500, "DatabaseError", failure.message)
        default: self.init(500, "DatabaseError", failure.message)
        }
    }

    // MARK: Known refusals

    static let internalError = Self(500, "InternalError", "Internal Server Error")

    static func noKey(_ missing: SupabaseAccess.MissingKey) -> Self {
        var failure = Self(401, "", missing.message)
        failure.isOfGateway = true
        return failure
    }

    static let invalidBucketName = Self(400, "InvalidBucketName", "Bucket name invalid", error: "Invalid Input")
    static let noSuchKey = Self(404, "NoSuchKey", "Object not found", error: "not_found")
    static let noSuchBucket = Self(404, "NoSuchBucket", "Bucket not found", error: "Bucket not found")
    static let noSuchUpload = Self(404, "NoSuchUpload", "The upload does not exist")
    static let keyAlreadyExists = Self(
        409, "KeyAlreadyExists", "The resource already exists", error: "Duplicate")
    static let tooLarge = Self(
        413, "EntityTooLarge", "The object exceeded the maximum allowed size", error: "Payload too large")
    static let invalidRange = Self(
        416, "S3Error", "The requested range is not satisfiable", error: "InvalidRange")
    static let invalidSignature = Self(400, "InvalidSignature", "The signature does not fit the address")
    static let broken = Self(400, "Aborted", "The body did not arrive")
    static let emptyBody = Self(
        400, "InvalidRequest", "Body cannot be empty when content-type is set to 'application/json'",
        error: "FastifyError")
    static let unparsableBody = Self(
        400, "InvalidRequest", "Body is not valid JSON but content-type is set to 'application/json'",
        error: "FastifyError")
    static let noMediaType = Self(
        415, "InvalidMimeType", "Invalid Content-Type header", error: "invalid_mime_type")
    static let invalidRole = accessDenied("Access denied: Invalid role").withActualStatus

    static func accessDenied(_ message: String) -> Self {
        Self(403, "AccessDenied", message, error: "Unauthorized")
    }

    static func invalidKey(_ name: String) -> Self { Self(400, "InvalidKey", "Invalid key: \(name)") }
    static func invalidRequest(_ message: String) -> Self { Self(400, "InvalidRequest", message) }

    /// A body or a query that does not fit what the route takes.
    static func invalidInput(_ message: String) -> Self { Self(400, "InvalidRequest", message, error: "Error") }
    static func invalidParameter(_ name: String) -> Self { Self(400, "InvalidParameter", "Invalid Parameter \(name)") }
    static func invalidToken(_ message: String) -> Self { Self(400, "InvalidJWT", message) }

    static func invalidType(_ type: String) -> Self {
        Self(415, "InvalidMimeType", "mime type \(type) is not supported", error: "invalid_mime_type")
    }

    // MARK: Answers

    /// As plain text with its actual status.
    var plain: Self {
        var failure = self
        failure.isPlain = true
        return failure
    }

    private var withActualStatus: Self {
        var failure = self
        failure.hasActualStatus = true
        return failure
    }

    /// The answer for an unknown route.
    ///
    /// - Parameter isInShape: Whether it has the format of other refusals.
    static func noRoute(_ request: ServerRequest, isInShape: Bool = false) -> ServerResponse {
        let path = request.rawPath.dropFirst("/storage/v1".count) + (request.rawQuery.map { "?\($0)" } ?? "")
        if isInShape {
            let failure = Self(
                404, "InvalidRequest", "Route \(request.method.rawValue):\(path) not found", error: "Not Found")
            var response = failure.response
            response.status = 404
            return response
        }
        return .json(
            JSON.object([
                "message": .string("Route \(request.method.rawValue):\(path) not found"), "error": "Not Found",
                "statusCode": 404,
            ]).bytes(), status: 404)
    }

    var response: ServerResponse {
        if isOfGateway { return SupabaseAccess.MissingKey(message: message).response }
        if isPlain { return .text(message, status: status, type: "text/plain;charset=UTF-8") }
        let body: JSON = [
            "statusCode": .string(String(status)), "error": .string(error), "message": .string(message),
            "code": .string(code),
        ]
        return .json(body.bytes(), status: hasActualStatus || [500, 503, 544].contains(status) ? status : 400)
    }
}

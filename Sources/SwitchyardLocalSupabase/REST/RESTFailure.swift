import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// A refusal of the vendor's data service: a status, and a body with four members.
struct RESTFailure: Error, Sendable {
    let status: Int
    let code: String
    let message: String
    var details: JSON = .null
    var hint: JSON = .null
    /// Additional header fields of the answer.
    var headers: [(name: String, value: String)] = []

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// - Parameter text: The refused token.
    init(_ refusal: SupabaseToken.Refusal, of text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard !text.isEmpty else {
            self.init(401, "PGRST301", "Empty JWT is sent in Authorization header")
            return
        }
        guard parts.count == 3 else {
            self.init(401, "PGRST301", "Expected 3 parts in JWT; got \(parts.count)")
            return
        }
        switch refusal {
        case .undecodable: self.init(401, "PGRST301", "JWT cryptographic operation failed")
        case .wrongSignature: self.init(unsigned: SupabaseToken.algorithm(of: parts[0]))
        case .expired: self.init(401, "PGRST303", "JWT expired")
        case .notYetValid: self.init(401, "PGRST303", "JWT not yet valid")
        case .fromTheFuture: self.init(401, "PGRST303", "JWT issued at future")
        case .malformedClaim("aud"):
            self.init(401, "PGRST303", "The JWT 'aud' claim must be a string or an array of strings")
        case .malformedClaim(let name): self.init(401, "PGRST303", "The JWT '\(name)' claim must be a number")
        case .unknownRole(let role): self.init(401, "22023", "role \"\(role)\" does not exist")
        }
    }

    /// A token that no key of the project has signed.
    private init(unsigned algorithm: String?) {
        if algorithm == "none" {
            self.init(401, "PGRST301", "Wrong or unsupported encoding algorithm")
            details = "JWT is unsecured but expected 'alg' was not 'none'"
        } else {
            self.init(401, "PGRST301", "No suitable key or wrong key type")
            details =
                algorithm?.hasPrefix("HS") == true
                ? "None of the keys was able to decode the JWT" : "No suitable key was found to decode the JWT"
        }
    }

    /// - Parameter isAnonymous: Whether no user was signed in; then a missing permission asks for a sign-in.
    init(_ failure: PostgresFailure, isAnonymous: Bool) {
        let isRole = failure.code == "22023" && failure.message.hasPrefix("role ")
        self.init(
            isRole ? 401 : RESTFailure.status(of: failure.code, isAnonymous: isAnonymous), failure.code, failure.message
        )
        details = failure.details.map { .string($0) } ?? .null
        hint = failure.hint.map { .string($0) } ?? .null
    }

    /// The refusal of a function that defines its own response, as JSON in the message and the details.
    init?(worded failure: PostgresFailure) {
        guard failure.code == "PGRST" else { return nil }
        guard let said = try? JSON(parsing: failure.message), let code = said["code"]?.string,
            let message = said["message"]?.string, let head = failure.details.flatMap({ try? JSON(parsing: $0) }),
            let status = head["status"]?.int, (100...599).contains(status)
        else {
            self.init(500, "PGRST121", "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error")
            return
        }
        self.init(status, code, message)
        details = said["details"] ?? .null
        hint = said["hint"] ?? .null
        headers = (head["headers"]?.object ?? [:]).compactMap { field in
            field.value.string.map { (name: field.key, value: $0) }
        }
    }

    /// The response of the vendor's service if its database connection is dead before a transaction begins, and also if it
    /// breaks before the commit is acknowledged: the same, whether nothing or everything was done.
    static let lostDatabase = RESTFailure(400, "", "")

    var response: ServerResponse {
        let body: JSON = ["code": .string(code), "details": details, "hint": hint, "message": .string(message)]
        var response = ServerResponse.json(body.bytes(), status: status)
        if status == 401 {
            let reason = #" error="invalid_token", error_description="\#(message)""#
            response.headers["WWW-Authenticate"] =
                code == "PGRST301" || code == "PGRST303" ? "Bearer" + reason : "Bearer"
        }
        // A page out of range is reported in the range, and is not an error of the service.
        if status != 416 { response.headers["Proxy-Status"] = "PostgREST; error=\(code)" }
        for (name, value) in headers where value.utf8.allSatisfy({ $0 >= 32 }) { response.headers[name] = value }
        return response
    }

    private static func status(of code: String, isAnonymous: Bool) -> Int {
        if code.hasPrefix("PT"), let status = Int(code.dropFirst(2)), (100...599).contains(status) { return status }
        switch code {
        case "42501": return isAnonymous ? 401 : 403
        case "42883", "42P01": return 404
        case "23503", "23505": return 409
        case "25006": return 405
        case "P0001": return 400
        case "21000", "42P17", "57014": return 500
        case "57P01": return 503
        default: break
        }
        switch code.prefix(2) {
        case "08", "53": return 503
        case "28", "0L", "0P": return 403
        case "57", "55", "54", "40", "XX", "58", "09", "25", "2D", "34", "38", "39", "3B", "P0", "F0", "HV": return 500
        default: return 400
        }
    }
}

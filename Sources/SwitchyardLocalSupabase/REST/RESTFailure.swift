import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// A refusal as clients of the vendor's data service see it: a status, and a body with four members.
struct RESTFailure: Error, Sendable {
    let status: Int
    let code: String
    let message: String
    var details: JSON = .null
    var hint: JSON = .null

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    init(_ refusal: SupabaseToken.Refusal) {
        switch refusal {
        case .undecodable: self.init(401, "PGRST301", "Expected 3 parts in JWT; or they cannot be decoded")
        case .wrongSignature: self.init(401, "PGRST301", "No suitable key or wrong key type")
        case .expired: self.init(401, "PGRST303", "JWT expired")
        case .unknownRole(let role): self.init(401, "22023", "role \"\(role)\" does not exist")
        }
    }

    /// - Parameter isAnonymous: Whether nobody was signed in; then a missing permission asks for a sign-in.
    init(_ failure: PostgresFailure, isAnonymous: Bool) {
        self.init(RESTFailure.status(of: failure.code, isAnonymous: isAnonymous), failure.code, failure.message)
        details = failure.details.map { .string($0) } ?? .null
        hint = failure.hint.map { .string($0) } ?? .null
    }

    /// What the vendor's service answers when it finds its connection to the database dead before a transaction has begun, and
    /// when the connection breaks before the commit is acknowledged: the same, whether nothing was done or all of it.
    static let lostDatabase = RESTFailure(400, "", "")

    var response: ServerResponse {
        let body: JSON = ["code": .string(code), "details": details, "hint": hint, "message": .string(message)]
        var response = ServerResponse.json(body.bytes(), status: status)
        if status == 401 { response.headers["WWW-Authenticate"] = "Bearer" }
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
        case "21000", "42P17": return 500
        default: break
        }
        switch code.prefix(2) {
        case "08", "57", "55", "53", "54", "40", "XX", "58", "09", "0L", "0P", "25", "2D", "34", "38", "39", "3B":
            return code.hasPrefix("08") || code == "57P01" ? 503 : 500
        default: return 400
        }
    }
}

import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardText

/// Why a call of the page fails, in words that are fit to be shown.
struct PageFailure: Error {
    let status: Int
    let code: String
    let message: String
    /// Where in a text the mistake is, in bytes of UTF-8.
    var position: Int?
    var length: Int?
    /// Why access was denied, as for a request.
    var explanation: JSON?

    init(_ status: Int, _ code: String, _ message: String, position: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.position = position
    }

    static func invalid(_ message: String) -> PageFailure { PageFailure(400, "invalidArgument", message) }

    static func missing(_ message: String) -> PageFailure { PageFailure(404, "notFound", message) }

    static func unsupported(_ message: String) -> PageFailure { PageFailure(501, "unsupported", message) }

    init(_ error: any Error) {
        switch error {
        case let failure as PageFailure: self = failure
        case let mistake as TextMistake:
            self.init(400, "invalidArgument", mistake.message, position: mistake.range.lowerBound)
            length = mistake.range.count
        case let error as DocumentJSONError: self.init(400, "invalidArgument", "\(error)")
        case let error as any ClientError:
            self.init(Self.status(of: error.code), error.code.rawValue, error.message)
        case ServerError.bodyTooLarge: self.init(413, "invalidArgument", "The request is too large.")
        case is CancellationError: self.init(499, "cancelled", "The call was cancelled.")
        default: self.init(500, "unknown", "The call failed: \(error)")
        }
    }

    private static func status(of code: ErrorCode) -> Int {
        switch code {
        case .invalidArgument: 400
        case .unauthenticated: 401
        case .unauthorized: 403
        case .notFound: 404
        case .alreadyExists: 409
        case .rateLimited, .resourceExhausted: 429
        case .unsupported: 501
        case .unavailable, .overloaded: 503
        case .deadlineExceeded: 504
        default: 422
        }
    }

    var response: ServerResponse {
        var error: JSONObject = ["code": .string(code), "message": .string(message)]
        error["position"] = position.map { .integer(Int64($0)) }
        error["length"] = length.map { .integer(Int64($0)) }
        error["explanation"] = explanation
        return .json(JSON.object(["error": .object(error)]).bytes(), status: status)
    }
}

extension JSON {
    /// An object of members, without those that have no value.
    static func object(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        .object(JSONObject(members.compactMap { name, value in value.map { (key: name, value: $0) } }))
    }

    static func text(_ value: String?) -> JSON? { value.map { .string($0) } }

    static func number(_ value: Int) -> JSON { .integer(Int64(value)) }
}

public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// A call of a project's edge function.
///
/// ```swift
/// var call = try SupabaseFunctionCall("hello", json: ["name": "Alice"])
/// call.region = "eu-west-1"
/// ```
public struct SupabaseFunctionCall: Sendable {
    public enum Method: String, Sendable, Hashable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
        case options = "OPTIONS"
    }

    /// A region in which functions run.
    public struct Region: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { self.init(rawValue: value) }
    }

    public enum Body: Sendable, Hashable {
        case none
        /// A JSON text.
        case json(Data)
        case text(String)
        case bytes(Data)

        fileprivate var contentType: String? {
            switch self {
            case .none: nil
            case .json: "application/json"
            case .text: "text/plain"
            case .bytes: "application/octet-stream"
            }
        }
    }

    /// The function's name; a part after a slash is a path for the function.
    public var name: String
    public var method: Method
    public var query: [(name: String, value: String)] = []
    /// Additional header fields. A content type given here overrides the body's default.
    public var headers: [String: String] = [:]
    public var body: Body
    /// The region to run in; `nil` for any.
    public var region: Region?
    /// The deadline for the complete answer; the platform gives up after 150 seconds without output.
    public var deadline = Duration.seconds(160)
    /// Whether a call may be repeated if the platform could not run the function. A `GET` always may.
    public var isIdempotent: Bool

    public init(_ name: String, method: Method = .post, body: Body = .none) {
        self.name = name
        self.method = method
        self.body = body
        isIdempotent = method == .get
    }

    /// Creates a call with a value as JSON.
    ///
    /// - Throws: Errors of the value's own encoding.
    public init(_ name: String, method: Method = .post, json value: some Encodable) throws {
        self.init(name, method: method, body: .json(Data(try JSONBytesEncoder().encode(value))))
    }

    /// - Parameter address: The address of the project's functions, without a trailing slash.
    func request(to address: String) throws(SupabaseFunctionError) -> HTTPRequest {
        let segments = name.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
            throw SupabaseFunctionError(.invalidArgument, "“\(name)” is not a function name.")
        }
        var items = query
        // For proxies that forward the address, but not all header fields.
        if let region { items.append((name: "forceFunctionRegion", value: region.rawValue)) }
        let path = segments.map { PercentCoding.encode($0) }.joined(separator: "/")
        var request = HTTPRequest(
            HTTPMethod(rawValue: method.rawValue),
            "\(address)/\(path)" + (items.isEmpty ? "" : "?" + FormCoding.encode(items, space: .percent)),
            isIdempotent: isIdempotent)
        request.headers["Content-Type"] = body.contentType
        request.headers["x-region"] = region?.rawValue
        request.headers.nameClient()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            guard !["authorization", "apikey"].contains(name.lowercased()) else {
                throw SupabaseFunctionError(.invalidArgument, "The header “\(name)” is the session's own.")
            }
            request.headers[name] = value
        }
        switch body {
        case .none: break
        case .json(let data), .bytes(let data): request.body = Array(data)
        case .text(let text): request.body = Array(text.utf8)
        }
        return request
    }
}

/// The answer of a function.
public struct SupabaseFunctionAnswer: Sendable, Hashable {
    public let status: Int
    /// Names are in lower case; of repeated headers, the first value.
    public let headers: [String: String]
    public let body: Data

    init(_ head: HTTPResponseHead, body: [UInt8] = []) {
        status = head.status
        var headers: [String: String] = [:]
        for field in head.headers where headers[field.name.lowercased()] == nil {
            headers[field.name.lowercased()] = field.value
        }
        self.headers = headers
        self.body = Data(body)
    }

    /// The media type of the body in lower case, without parameters.
    public var contentType: String? {
        headers["content-type"]?.split(separator: ";").first.map { type in
            String(type.lowercased().filter { $0 != " " })
        }
    }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body as JSON.
    ///
    /// - Throws: `.invalidAnswer` for a body that is not JSON, or is not such a value.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(SupabaseFunctionError) -> Value {
        do {
            return try JSONBytesDecoder().decode(type, from: Array(body))
        } catch {
            throw SupabaseFunctionError(
                .invalidAnswer, "The function returned an unexpected response.", underlying: error)
        }
    }
}

extension SupabaseFunctionAnswer: CustomStringConvertible, CustomReflectable {
    /// Omits contents, which must not be logged.
    public var description: String { "SupabaseFunctionAnswer(\(status), \(body.count) bytes)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An answer that is streamed, such as server-sent events. It can be read only once; leaving the loop ends the call.
public struct SupabaseFunctionStream: AsyncSequence, Sendable {
    public typealias Element = Data
    public typealias Failure = SupabaseFunctionError

    /// The answer without its body.
    public let head: SupabaseFunctionAnswer
    private let body: HTTPBody

    init(_ stream: HTTPStream) {
        head = SupabaseFunctionAnswer(stream.head)
        body = stream.body
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: HTTPBody.AsyncIterator

        public mutating func next() async throws(SupabaseFunctionError) -> Data? {
            try await next(isolation: nil)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SupabaseFunctionError) -> Data? {
            do throws(TransportError) {
                return try await base.next().map { Data($0) }
            } catch {
                throw SupabaseFunctionError(error)
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: body.makeAsyncIterator()) }
}

/// Why a call of an edge function failed, either in the function or because it could not be run.
public struct SupabaseFunctionError: ClientError {
    public static let area = "Functions"
    public static let retryable: Set<ErrorCode> = [.relay, .unavailable, .deadlineExceeded]
    public let details: ErrorDetails
    /// The answer, if there was one; with `.function` it is the function's own.
    public private(set) var answer: SupabaseFunctionAnswer?

    public init(_ details: ErrorDetails) { self.details = details }

    /// From an error answer.
    public init(_ code: ErrorCode, _ message: String, retryAfter: Duration? = nil, answer: SupabaseFunctionAnswer) {
        self.init(code, message, retryAfter: retryAfter)
        self.answer = answer
    }

    /// Compares the details and the answer, without the underlying error.
    public static func == (left: SupabaseFunctionError, right: SupabaseFunctionError) -> Bool {
        left.details == right.details && left.answer == right.answer
    }
}

extension ErrorCode {
    /// The function ran and returned an error status; see ``SupabaseFunctionError/answer``.
    public static let function = ErrorCode(rawValue: "function")
    /// The platform could not run the function.
    public static let relay = ErrorCode(rawValue: "relay")
    /// The function failed while running, without an answer.
    public static let failed = ErrorCode(rawValue: "failed")
    public static let invalidAnswer = ErrorCode(rawValue: "invalidAnswer")
}

extension SupabaseFunctionError {
    /// From an error answer of the function, or an answer that the platform returned in its place.
    init(_ response: HTTPResponse, now: Timestamp) {
        let answer = SupabaseFunctionAnswer(response.head, body: response.body)
        let (code, message): (Code, String) =
            if response.head.isRelayFailure {
                (.relay, "The platform could not run the function.")
            } else {
                switch response.headers["sb-error-code"] {
                case "BOOT_ERROR": (.relay, "The function did not start.")
                case "IDLE_TIMEOUT": (.deadlineExceeded, "The function did not answer in time.")
                case "WORKER_RESOURCE_LIMIT": (.resourceExhausted, "The function took too much memory or time.")
                case "EDGE_FUNCTION_ERROR": (.failed, "The function failed while it ran.")
                case "NOT_FOUND": (.notFound, "There is no function with that name.")
                default:
                    switch response.status {
                    case 546: (.resourceExhausted, "The function took too much memory or time.")
                    case 401 where SupabaseFunctionError.isPlatforms(response):
                        (.unauthenticated, "The platform does not accept the session's token.")
                    default: (.function, "The function answered with status \(response.status).")
                    }
                }
            }
        self.init(
            code, message,
            retryAfter: response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) },
            answer: answer)
    }

    /// The platform's own errors repeat the status as a number in the body.
    private static func isPlatforms(_ response: HTTPResponse) -> Bool {
        (try? JSON(parsing: response.body))?["code"]?.int == response.status
    }

    init(_ error: TransportError) {
        self.init(
            error.meaning, "The function could not be called: \(error.message).", isRetryable: error.isRetryable,
            underlying: error)
    }

    init(_ failure: SupabaseTokens.Failure) { self.init(failure.meaning) }
}

extension HTTPResponseHead {
    /// Whether the function has not run, independent of the status.
    var isRelayFailure: Bool { headers["x-relay-error"]?.lowercased() == "true" }
}

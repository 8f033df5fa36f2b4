public import Foundation
import Switchyard
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

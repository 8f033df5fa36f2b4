import SwitchyardBytes
package import SwitchyardWire

/// Finds the handler of a request by its method and path pattern.
///
/// A pattern is a path whose segments are literal text, `{name}` for one segment, or, as the last one, `{name...}` for all
/// remaining segments, at least one. Either may be followed by a literal suffix, as in
/// `/v1/{database}/documents/{path...}:commit`. The matches are decoded into `parameters`; those of several segments keep their
/// slashes. The first matching route is used, so add the more specific ones first.
package struct Router: Sendable {
    package typealias Handler = LoopbackServer.Handler

    fileprivate struct Route: Sendable {
        let method: HTTPMethod?
        let pattern: PathPattern
        let handler: Handler
    }

    private var routes: [Route] = []

    package init() {}

    /// - Parameter method: `nil` for every method. A route for GET also answers HEAD.
    package mutating func on(_ method: HTTPMethod?, _ pattern: String, _ handler: @escaping Handler) {
        routes.append(Route(method: method, pattern: PathPattern(pattern), handler: handler))
    }

    /// The answer of the route; 404 if no pattern matches, 405 if only the method differs.
    package func handle(_ request: ServerRequest) async -> ServerResponse {
        var allowed: [String] = []
        let path = ServerPath(request.rawPath)
        for route in routes {
            guard let parameters = route.pattern.match(path) else { continue }
            guard route.accepts(request.method) else {
                if let method = route.method { allowed.append(method.rawValue) }
                continue
            }
            var request = request
            request.parameters = parameters
            return await route.handler(request)
        }
        // Name the missing route: an empty answer would make users look for their own mistakes.
        var response = ServerResponse.json(
            JSON.object([
                "message": .string("This local server has no \(request.method.rawValue) \(request.rawPath).")
            ]).bytes(), status: allowed.isEmpty ? 404 : 405)
        if !allowed.isEmpty { response.headers["Allow"] = allowed.joined(separator: ", ") }
        return response
    }
}

extension Router.Route {
    fileprivate func accepts(_ wanted: HTTPMethod) -> Bool {
        method == nil || method == wanted || (method == .get && wanted == .head)
    }
}

/// The parsed pattern of a route's path.
struct PathPattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case one(name: String, suffix: String)
        case rest(name: String, suffix: String)
    }

    private let segments: [Segment]

    init(_ text: String) {
        segments = text.split(separator: "/").map { Self.segment($0) }
    }

    private static func segment(_ text: Substring) -> Segment {
        guard text.first == "{", let end = text.firstIndex(of: "}") else { return .literal(String(text)) }
        let name = text[text.index(after: text.startIndex)..<end]
        let suffix = String(text[text.index(after: end)...])
        return name.hasSuffix("...")
            ? .rest(name: String(name.dropLast(3)), suffix: suffix) : .one(name: String(name), suffix: suffix)
    }

    /// The matches of the placeholders, or `nil`.
    func match(_ path: ServerPath) -> [String: String]? {
        var parameters: [String: String] = [:]
        var index = 0
        for segment in segments {
            guard index < path.segments.count else { return nil }
            switch segment {
            case .literal(let text):
                guard path.decoded[index] == text || path.segments[index] == text else { return nil }
                index += 1
            case .one(let name, let suffix):
                guard let value = Self.strip(suffix, from: path.segments[index]) else { return nil }
                parameters[name] = ServerPath.decode(value)
                index += 1
            case .rest(let name, let suffix):
                guard let last = path.segments.last, let end = Self.strip(suffix, from: last) else { return nil }
                let all = path.decoded[index...].dropLast() + [ServerPath.decode(end)]
                parameters[name] = all.joined(separator: "/")
                index = path.segments.count
            }
        }
        return index == path.segments.count ? parameters : nil
    }

    /// The part before the suffix, which must not be empty.
    private static func strip(_ suffix: String, from text: Substring) -> Substring? {
        guard text.hasSuffix(suffix), text.utf8.count > suffix.utf8.count else { return nil }
        return text.dropLast(suffix.count)
    }
}

/// The path of a request, taken apart once for all patterns.
struct ServerPath: Sendable {
    /// The segments as received.
    let segments: [Substring]
    /// A segment that cannot be decoded stays as received.
    let decoded: [String]

    init(_ rawPath: Substring) {
        segments = rawPath.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
        decoded = segments.map { Self.decode($0) }
    }

    static func decode(_ text: Substring) -> String { PercentCoding.decode(text) ?? String(text) }
}

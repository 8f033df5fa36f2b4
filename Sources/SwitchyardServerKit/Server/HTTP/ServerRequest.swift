import SwitchyardBytes
package import SwitchyardWire

/// A request as a handler gets it.
package struct ServerRequest: Sendable {
    package let head: RequestHead
    package let body: ServerRequestBody
    /// Counts accepted connections from 1; two requests with the same number came over the same connection.
    package let connection: Int
    /// Whether faults do not count for it, since it is of whoever looks at the server.
    package internal(set) var isExempt = false
    /// The decoded matches of the route's pattern.
    package internal(set) var parameters: [String: String] = [:]

    package var method: HTTPMethod { head.method }
    package var headers: HTTPHeaders { head.headers }
    package var target: String { head.target }

    /// The path as received, not decoded, without the query.
    package var rawPath: Substring { path(of: head.target) }

    /// The decoded path segments; a segment that cannot be decoded stays as received.
    package var pathSegments: [String] { ServerPath(rawPath).decoded }

    package var path: String { PercentCoding.decode(rawPath) ?? String(rawPath) }

    package var rawQuery: Substring? {
        guard let mark = head.target.firstIndex(of: "?") else { return nil }
        return head.target[head.target.index(after: mark)...]
    }

    /// The query's items in order, decoded.
    package var queryItems: [(name: String, value: String)] {
        (rawQuery ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.text(parts[0]), parts.count > 1 ? Self.text(parts[1]) : "")
        }
    }

    /// A part of a query. One with invalid encoding is used unchanged, so that no part of the request is ignored.
    private static func text(_ part: Substring) -> String {
        let bytes = Array(part.utf8)
        var text: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = Hex.value(of: bytes[index + 1]),
                let low = Hex.value(of: bytes[index + 2])
            {
                text.append(UInt8(high) << 4 | UInt8(low))
                index += 3
            } else {
                text.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The first query item of this name.
    package func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The fields of an `application/x-www-form-urlencoded` body, read to its end.
    ///
    /// - Throws: `.badRequestBody` if it is not one.
    package func form(upTo limit: Int = 1 << 20) async throws(ServerError) -> [(name: String, value: String)] {
        let bytes = try await body.collect(upTo: limit)
        guard let fields = FormCoding.decode(String(decoding: bytes, as: UTF8.self)) else { throw .badRequestBody }
        return fields
    }

    /// The request with `.` and `..` in its path resolved, as gateways do before they pass one on.
    package var withResolvedPath: ServerRequest {
        let segments = rawPath.split(separator: "/", omittingEmptySubsequences: false)
        let dots = segments.map { segment in segment.utf8.count > 6 ? "" : ServerPath.decode(segment) }
        guard dots.contains(where: { $0 == "." || $0 == ".." }) else { return self }
        var path: [Substring] = []
        for (segment, dots) in zip(segments, dots) {
            switch dots {
            case ".": break
            case "..": if path.count > 1 { path.removeLast() }
            default: path.append(segment)
            }
        }
        // A folder stays one.
        if dots.last == "." || dots.last == ".." { path.append("") }
        let target = path.joined(separator: "/") + (rawQuery.map { "?\($0)" } ?? "")
        return ServerRequest(
            head: RequestHead(method: method, target: target, headers: headers, minorVersion: head.minorVersion),
            body: body, connection: connection, isExempt: isExempt, parameters: parameters)
    }

    /// Drops scheme and host of the absolute form, as sent to proxies.
    private func path(of target: String) -> Substring {
        var rest = target[...]
        if !rest.hasPrefix("/"), let scheme = rest.firstRange(of: "://") {
            let afterHost = rest[scheme.upperBound...]
            rest = afterHost.firstIndex(of: "/").map { afterHost[$0...] } ?? "/"
        }
        return rest.firstIndex(of: "?").map { rest[..<$0] } ?? rest
    }
}

/// The body of a request, read as it arrives; unread bytes stay at the client.
package struct ServerRequestBody: AsyncSequence, Sendable {
    package typealias Element = [UInt8]
    package typealias Failure = ServerError

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pipe: BytePipe

        package mutating func next() async throws(ServerError) -> [UInt8]? { try await pipe.next() }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ServerError) -> [UInt8]? { try await pipe.next() }
    }

    let pipe: BytePipe

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pipe: pipe) }

    /// The rest of the body.
    ///
    /// - Throws: `.bodyTooLarge` as soon as it exceeds `limit`, without reading more.
    package func collect(upTo limit: Int = 64 << 20) async throws(ServerError) -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = try await pipe.next() {
            guard bytes.count <= limit - all.count else { throw .bodyTooLarge(limit: limit) }
            if all.isEmpty { all = bytes } else { all += bytes }
        }
        return all
    }
}

/// The request line and header fields as received.
package struct RequestHead: Sendable {
    package let method: HTTPMethod
    /// The raw request target, including the query.
    package let target: String
    package let headers: HTTPHeaders
    /// 0 or 1: the digit after "HTTP/1.".
    package let minorVersion: Int

    /// Whether the client allows reusing the connection.
    package var wantsKeepAlive: Bool {
        let tokens = connectionTokens
        return minorVersion == 0 ? tokens.contains("keep-alive") : !tokens.contains("close")
    }

    package var expectsContinue: Bool {
        minorVersion > 0 && headers["Expect"]?.lowercased() == "100-continue"
    }

    var connectionTokens: [String] {
        headers.values(for: "Connection").flatMap { value in
            value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        }
    }
}

/// The limits of a request; larger ones are refused.
package struct RequestLimits: Sendable {
    /// The size of the request line and header fields together.
    package var headSize = 64 * 1024
    package var fieldCount = 200
    /// A longer body is answered with 413.
    package var bodySize = Int.max

    package init() {}
}

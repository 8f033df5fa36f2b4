package import SwitchyardWire

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

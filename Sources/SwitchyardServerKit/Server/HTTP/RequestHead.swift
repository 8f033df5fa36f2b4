package import SwitchyardWire

/// Request line and header fields, as they came.
package struct RequestHead: Sendable {
    package let method: HTTPMethod
    /// The raw request target, query included.
    package let target: String
    package let headers: HTTPHeaders
    /// 0 or 1: the digit behind "HTTP/1.".
    package let minorVersion: Int

    /// Whether the client is content to use the connection again.
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

/// What a request may cost before it is refused.
package struct RequestLimits: Sendable {
    /// Request line and header fields together.
    package var headSize = 64 * 1024
    package var fieldCount = 200
    /// A longer body is answered with 413.
    package var bodySize = Int.max

    package init() {}
}

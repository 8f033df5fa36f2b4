import SwitchyardWire

/// Writes status line and header fields.
enum ResponseHead {
    enum Body {
        case bytes([UInt8])
        case length(Int)
        case chunked
        /// Ends with the connection.
        case untilEnd
        case upgrade
    }

    /// The bytes of the head, including a body in memory, and whether the connection can be reused.
    static func make(
        _ response: ServerResponse, to request: RequestHead, body: Body
    ) -> (bytes: [UInt8], keepsConnection: Bool) {
        var output: [UInt8] = []
        if case .bytes(let bytes) = body { output.reserveCapacity(bytes.count + 256) }
        output += "HTTP/1.1 \(response.status) \(reason(response.status))\r\n".utf8
        for field in response.headers { append(field.name, field.value, to: &output) }
        var keeps = request.wantsKeepAlive && !response.closesConnection
        let hasBody = response.status >= 200 && response.status != 204 && response.status != 304
        switch body {
        case .bytes(let bytes) where hasBody: appendLength(bytes.count, of: response, to: &output)
        case .length(let length) where hasBody: appendLength(length, of: response, to: &output)
        case .chunked where hasBody: append("Transfer-Encoding", "chunked", to: &output)
        case .untilEnd where hasBody: keeps = false
        default: break
        }
        if case .upgrade = body {
            keeps = false
        } else if !response.headers.contains("Connection") {
            if !keeps { append("Connection", "close", to: &output) }
            if keeps, request.minorVersion == 0 { append("Connection", "keep-alive", to: &output) }
        }
        output += [13, 10]
        if case .bytes(let bytes) = body, hasBody, request.method != .head { output += bytes }
        return (output, keeps)
    }

    /// The answer to an unreadable request.
    static func refusal(_ status: Int) -> [UInt8] {
        Array("HTTP/1.1 \(status) \(reason(status))\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    }

    /// A length set by the handler is sent even if it is wrong: tests of clients need both.
    private static func appendLength(_ length: Int, of response: ServerResponse, to output: inout [UInt8]) {
        if !response.headers.contains("Content-Length") { append("Content-Length", String(length), to: &output) }
    }

    private static func append(_ name: String, _ value: String, to output: inout [UInt8]) {
        output += name.utf8
        output += [UInt8(ascii: ":"), UInt8(ascii: " ")]
        output += value.utf8
        output += [13, 10]
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 416: "Range Not Satisfiable"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}

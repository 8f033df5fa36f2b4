/// A request and its limits.
///
/// It has no total deadline, which would include the time during which a slow consumer holds up the transfer. Use
/// `send(_:within:)`, or cancel other calls, as `withDeadline` does.
package struct HTTPRequest: Sendable {
    package enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 if a TLS server offers it, otherwise HTTP/1.1.
        case automatic
        /// Only HTTP/1.1: for large downloads, where with HTTP/2 a stalled consumer would cost a 32 MB window.
        case http1
        /// HTTP/2 without negotiation, also without TLS, where each request then has a separate connection.
        case http2
    }

    package var method: HTTPMethod
    /// An absolute `http` or `https` address, percent-encoded, without user information.
    package var url: String
    package var headers: HTTPHeaders
    /// Sent by `send` and `stream`; `upload` takes its body separately.
    package var body: [UInt8]

    /// Whether sending it twice does no harm.
    ///
    /// A reused connection may turn out to be dead after the request was written. An idempotent request is then sent again
    /// silently; any other fails with `.connectionLost` and `mayHaveBeenSent`.
    package var isIdempotent: Bool

    /// The maximum size of an answer's status line and header fields.
    package var maximumHeadSize = 64 * 1024
    /// The maximum size of an answer's body after decompression; streams and downloads are limited only by
    /// `maximumStreamedSize`.
    package var maximumBodySize = 32 * 1024 * 1024
    package var maximumStreamedSize: Int64?

    /// How long name resolution, connecting and the TLS handshake may take together.
    package var connectDeadline: Duration = .seconds(15)
    /// How long the body may transfer (almost) nothing in either direction, and how long a complete head may take; `nil` for
    /// streams that are idle by design. Time during which this side holds up the transfer does not count.
    package var idleLimit: Duration? = .seconds(60)
    /// A transfer with fewer bytes per second than this, over the idle limit, counts as idle.
    package var minimumSpeed = 1

    package var redirects: RedirectPolicy = .follow(limit: 5)
    /// Whether to request and decode compressed answers (gzip, br). A damaged one is an error, and so is one that is truncated
    /// or has trailing bytes, even if the message around it is complete.
    package var decompresses = true
    /// Whether to open a new connection instead of reusing a pooled one.
    package var usesFreshConnection = false
    package var httpVersion: HTTPVersion = .automatic
    /// Whether it belongs to a connection that several callers use, so that nothing of the one who opened it may go with it.
    package var isShared = false

    package init(
        _ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = [],
        isIdempotent: Bool? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.isIdempotent = isIdempotent ?? method.isIdempotent
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method, URL without the values of its query, header names, and the size of the body.
    package var description: String {
        "\(method) \(URLParts.redacted(url)) \(headers)" + (body.isEmpty ? "" : " \(body.count) bytes")
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A request method. Not an enum, since vendors add their own.
package struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let get = HTTPMethod(rawValue: "GET")
    package static let head = HTTPMethod(rawValue: "HEAD")
    package static let post = HTTPMethod(rawValue: "POST")
    package static let put = HTTPMethod(rawValue: "PUT")
    package static let patch = HTTPMethod(rawValue: "PATCH")
    package static let delete = HTTPMethod(rawValue: "DELETE")
    package static let options = HTTPMethod(rawValue: "OPTIONS")

    /// Whether sending it twice has the same effect as once, as defined by RFC 9110.
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options: true
        default: false
        }
    }

    package var description: String { rawValue }
}

extension HTTPRequest {
    /// Refuses a request that cannot be sent unchanged, or could smuggle another header or request.
    ///
    /// Every transport calls this first, so nothing has been sent if it throws. Returns the parts of the URL.
    @discardableResult
    package func validate() throws(TransportError) -> URLParts {
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(\.isTokenCharacter) else {
            throw TransportError(.invalidRequest, "the method is not a token")
        }
        let parts = try URLParts(validating: url)
        guard parts.scheme == "http" || parts.scheme == "https" else {
            throw TransportError(.invalidRequest, "the address is neither http nor https")
        }
        for field in headers {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenCharacter) else {
                throw TransportError(.invalidRequest, "a header name is not a token")
            }
            guard field.value.utf8.allSatisfy(\.isFieldCharacter) else {
                throw TransportError(.invalidRequest, "the value of a header contains a control character")
            }
            guard !Self.ownedByTransport.contains(where: { field.name.isSameHeaderName(as: $0) }) else {
                throw TransportError(.invalidRequest, "the transport itself writes the header \(field.name)")
            }
        }
        return parts
    }

    /// The framing fields: letting callers set them would allow request smuggling.
    private static let ownedByTransport = ["Content-Length", "Transfer-Encoding", "Connection", "Host", "Expect", "TE"]
}

extension UInt8 {
    /// RFC 9110, `tchar`.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Tab, space, visible ASCII and the bytes above; no control character.
    fileprivate var isFieldCharacter: Bool {
        self == 0x09 || (self >= 0x20 && self != 0x7F)
    }
}

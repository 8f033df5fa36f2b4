/// One request, and the bounds within which it may run.
///
/// There is no total deadline here: it would also count the time during which a slow consumer holds the transfer back.
/// `send(_:within:)` has one; other calls are cancelled (`withDeadline` does).
package struct HTTPRequest: Sendable {
    package enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 where a TLS server offers it, else HTTP/1.1.
        case automatic
        /// HTTP/1.1 only: for large downloads, where HTTP/2 would let a stalled consumer cost a 32 MB window.
        case http1
        /// HTTP/2 without asking, also in clear text, where each request then has a connection of its own.
        case http2
    }

    package var method: HTTPMethod
    /// An absolute `http` or `https` address, percent-encoded, without user information.
    package var url: String
    package var headers: HTTPHeaders
    /// Sent by `send` and `stream`; `upload` takes its body apart.
    package var body: [UInt8]

    /// Whether sending this twice does no harm.
    ///
    /// A reused connection may turn out to be dead after the request was written. An idempotent request is then sent
    /// again silently; any other fails with `.connectionLost` and `mayHaveBeenSent`.
    package var isIdempotent: Bool

    /// The most bytes of status line and header fields an answer may have.
    package var maximumHeadSize = 64 * 1024
    /// The most bytes (after decompression) the body of an answer may have; streams and downloads are not limited
    /// unless `maximumStreamedSize` says so.
    package var maximumBodySize = 32 * 1024 * 1024
    package var maximumStreamedSize: Int64?

    /// How long name resolution, connecting and the TLS handshake may take together.
    package var connectDeadline: Duration = .seconds(15)
    /// How long the body may move (almost) nothing in either direction, and how long a complete head may take; `nil`
    /// for streams that are quiet by design. Time during which the consumer or producer on this side holds the
    /// transfer back does not count.
    package var idleLimit: Duration? = .seconds(60)
    /// Fewer bytes per second than this, over the idle limit, count as idle.
    package var minimumSpeed = 1

    package var redirects: RedirectPolicy = .follow(limit: 5)
    /// Whether compressed answers (gzip, br) are asked for and decoded. A damaged one is an error, and so is one that lacks
    /// its end, or has anything behind it, though the message around it is whole.
    package var decompresses = true
    /// Never reuses a pooled connection.
    package var usesFreshConnection = false
    package var httpVersion: HTTPVersion = .automatic

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
    /// Method, address with the values of the query hidden, header names, and the size of the body.
    package var description: String {
        "\(method) \(URLParts.redacted(url)) \(headers)" + (body.isEmpty ? "" : " \(body.count) bytes")
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

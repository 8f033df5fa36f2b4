/// Why bytes could not be transferred. A status of 400 or above is not an error here, but an answer.
package struct TransportError: Error, Sendable {
    package struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        package var description: String { rawValue }
    }

    package let code: Code
    /// Contains at most a host name, never an address, a header value or content.
    package let message: String
    /// Whether the failure is temporary *and* sending again does no harm, because the request was not sent or is idempotent.
    package let isRetryable: Bool
    /// Whether the server may have seen the request, and so acted on it. `false` is a guarantee.
    package let mayHaveBeenSent: Bool
    /// The answer that refused an upgrade, with its status and body.
    package let response: HTTPResponse?
    package let underlying: (any Error)?

    package init(
        _ code: Code, _ message: String, isRetryable: Bool = false, mayHaveBeenSent: Bool = false,
        response: HTTPResponse? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
        self.mayHaveBeenSent = mayHaveBeenSent
        self.response = response
        self.underlying = underlying
    }
}

extension TransportError.Code {
    package static let cancelled = Self(rawValue: "cancelled")
    /// The deadline of the call has passed.
    package static let deadlineExceeded = Self(rawValue: "deadlineExceeded")
    package static let invalidRequest = Self(rawValue: "invalidRequest")
    package static let unsupported = Self(rawValue: "unsupported")
    /// A system library is missing; the message names its package.
    package static let libraryUnavailable = Self(rawValue: "libraryUnavailable")
    package static let shutDown = Self(rawValue: "shutDown")
    /// Too many exchanges with one origin are waiting already. The request was never sent.
    package static let overloaded = Self(rawValue: "overloaded")
    /// The system has no thread or no memory.
    package static let outOfResources = Self(rawValue: "outOfResources")

    package static let hostNotFound = Self(rawValue: "hostNotFound")
    /// Refused, unreachable, or the proxy refused.
    package static let cannotConnect = Self(rawValue: "cannotConnect")
    package static let connectDeadlineExceeded = Self(rawValue: "connectDeadlineExceeded")
    /// The idle limit was exceeded.
    package static let stalled = Self(rawValue: "stalled")
    /// The connection broke before the answer was complete.
    package static let connectionLost = Self(rawValue: "connectionLost")
    /// The peer's certificate is untrusted, expired, or for another host.
    package static let untrustedPeer = Self(rawValue: "untrustedPeer")
    /// TLS failed for another reason, such as an unreadable CA bundle.
    package static let tlsFailed = Self(rawValue: "tlsFailed")

    /// What arrived is not HTTP, or its framing is broken.
    package static let badResponse = Self(rawValue: "badResponse")
    package static let headTooLarge = Self(rawValue: "headTooLarge")
    package static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// The content coding (gzip, br) of the body is broken.
    package static let badContentCoding = Self(rawValue: "badContentCoding")
    package static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
    /// A redirect led from https to http, to another scheme, or would have carried a body to another origin.
    package static let redirectRefused = Self(rawValue: "redirectRefused")

    /// The file or producer of an upload failed, or had another length than stated.
    package static let requestBodyFailed = Self(rawValue: "requestBodyFailed")
    package static let fileFailed = Self(rawValue: "fileFailed")

    /// The server did not accept the upgrade; see `response`.
    package static let webSocketRefused = Self(rawValue: "webSocketRefused")
    /// The peer broke the WebSocket protocol.
    package static let webSocketProtocol = Self(rawValue: "webSocketProtocol")
    /// A message or frame exceeds its limit.
    package static let webSocketMessageTooLarge = Self(rawValue: "webSocketMessageTooLarge")
    /// The connection is closed, so nothing can be sent.
    package static let webSocketClosed = Self(rawValue: "webSocketClosed")

    package static let unknown = Self(rawValue: "unknown")

    package static func ~= (code: Self, error: any Error) -> Bool {
        (error as? TransportError)?.code == code
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String { "\(code): \(message)" }
}

extension TransportError: Equatable {
    /// Equal in everything that a caller can act on; ignores `underlying`.
    package static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.message == right.message && left.isRetryable == right.isRetryable
            && left.mayHaveBeenSent == right.mayHaveBeenSent && left.response == right.response
    }
}

/// Messages about an unreachable server, the same for every transport.
package enum UnreachableHost {
    /// The host as named in messages: with its port if the URL has one.
    private static func name(_ url: String?) -> (text: String, isLoopback: Bool)? {
        guard let url, let parts = try? URLParts(validating: url) else { return nil }
        return (parts.host + (parts.port.map { ":\($0)" } ?? ""), parts.isLoopback)
    }

    package static func notFound(_ url: String?) -> String {
        "the host name \(name(url).map { "“\($0.text)” " } ?? "")could not be resolved; check the address"
    }

    package static func notConnected(_ url: String?) -> String {
        guard let (host, isLoopback) = name(url) else { return "could not connect" }
        // A transport does not know which server it is; the command lists the existing ones.
        return "could not connect to \(host)"
            + (isLoopback ? " (is the local server running? Start it with “switchyard emulator”)" : "")
    }
}

/// The settings of a libcurl transport.
package struct CurlConfiguration: Sendable {
    /// The trusted certificates.
    package enum Trust: Sendable {
        /// The roots libcurl was built to use: `ca-certificates` on Debian.
        case system
        /// Only those in this PEM file.
        case bundle(path: String)
        /// Only those in this PEM text.
        case pem([UInt8])
    }

    package enum Proxy: Sendable {
        /// Uses `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, like every program with libcurl. `HTTP_PROXY` in
        /// capitals is ignored. Plain requests are sent to the proxy; TLS connections and web sockets go through a tunnel, so
        /// the proxy sees only host and port.
        case environment
        /// Direct connections, whatever the environment says.
        case none
        /// `http://`, `https://` or `socks5h://` with host and port, for every host.
        case address(String)
    }

    package var trust: Trust = .system
    package var proxy: Proxy = .environment
    /// The maximum number of exchanges in progress per origin; further ones wait in order. With HTTP/1.1 each has a connection,
    /// so this also limits descriptors.
    package var maximumExchangesPerOrigin = 256
    /// The maximum number of waiting exchanges per origin; one more is refused with `.overloaded`, without being sent.
    package var maximumWaitingPerOrigin = 16_384
    /// The maximum number of open streams without an idle limit per origin. They do not count towards the exchanges above,
    /// since they may stay open forever. Web sockets are not counted.
    package var maximumOpenStreamsPerOrigin = 1024

    package init() {}
}

/// What a libcurl transport is told once.
package struct CurlConfiguration: Sendable {
    /// Which certificates are believed.
    package enum Trust: Sendable {
        /// The roots libcurl was built to use: `ca-certificates` on Debian.
        case system
        /// Only those in this PEM file.
        case bundle(path: String)
        /// Only those in this PEM text.
        case pem([UInt8])
    }

    package enum Proxy: Sendable {
        /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as every program on libcurl reads them. Note that
        /// `HTTP_PROXY` in capitals is not read. Clear-text requests are handed to the proxy; TLS, and every web
        /// socket, goes through a tunnel, so the proxy sees host and port only.
        case environment
        /// Direct connections, whatever the environment says.
        case none
        /// `http://`, `https://` or `socks5h://` with host and port, for every host.
        case address(String)
    }

    package var trust: Trust = .system
    package var proxy: Proxy = .environment
    /// How many exchanges with one origin may be under way; further ones wait their turn, first come first served.
    /// On HTTP/1.1 each has a connection, so this bounds descriptors too.
    package var maximumExchangesPerOrigin = 256
    /// How many may wait for their turn; one more is refused with `.overloaded`, and was not sent.
    package var maximumWaitingPerOrigin = 16_384
    /// How many streams that are quiet by design (those without an idle limit) may be open beside the exchanges above. They
    /// have places of their own, since they may keep them for ever. Web sockets are not counted.
    package var maximumOpenStreamsPerOrigin = 1024

    package init() {}
}

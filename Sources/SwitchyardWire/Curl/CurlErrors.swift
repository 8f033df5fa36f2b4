#if os(Linux)
    import CSwitchyardLibraries

    /// Converts libcurl's result of a transfer; the only place that reads its codes.
    enum CurlErrors {
        /// The error for `code`, or the exchange's own abort reason; `nil` for success.
        static func error(_ code: Int, for exchange: CurlExchange) -> TransportError? {
            if let reason = exchange.abortReason { return reason }
            guard code != CCURL_OK else { return nil }
            if let refusal = proxyRefusal(exchange.easy) { return refusal }
            return error(
                code, mayHaveBeenSent: exchange.mayHaveBeenSent, isIdempotent: exchange.request.isIdempotent,
                url: exchange.request.url)
        }

        /// The proxy's refusal to open a tunnel, which libcurl reports as a receive error.
        static func proxyRefusal(_ easy: ccurl_easy?) -> TransportError? {
            var status = 0
            guard let easy, ccurl_info_long(easy, CCURL_INFO_CONNECT_CODE, &status) == CCURL_OK,
                status != 0, !(200...299).contains(status)
            else { return nil }
            return TransportError(
                .cannotConnect, "the proxy answered \(status) instead of opening a tunnel", isRetryable: status >= 500)
        }

        static func overloaded(_ exchange: CurlExchange) -> TransportError {
            TransportError(.overloaded, "too many calls to \(exchange.origin) are in progress", isRetryable: true)
        }

        static func stalled(_ exchange: CurlExchange) -> TransportError {
            TransportError(
                .stalled, "no data arrived for too long", isRetryable: exchange.request.isIdempotent,
                mayHaveBeenSent: true)
        }

        /// - Parameter url: The URL of the connection.
        static func error(
            _ code: Int, mayHaveBeenSent: Bool, isIdempotent: Bool, url: String? = nil
        ) -> TransportError {
            let row = row(code, url: url, wasSent: mayHaveBeenSent)
            return TransportError(
                row.code, row.message, isRetryable: row.isPassing && (isIdempotent || !mayHaveBeenSent),
                mayHaveBeenSent: mayHaveBeenSent, underlying: CurlError(code: code))
        }

        private static func row(
            _ code: Int, url: String?, wasSent: Bool
        ) -> (code: TransportError.Code, message: String, isPassing: Bool) {
            switch code {
            case CCURL_COULDNT_RESOLVE_HOST: (.hostNotFound, UnreachableHost.notFound(url), true)
            case CCURL_COULDNT_RESOLVE_PROXY: (.hostNotFound, "the proxy's name cannot be resolved", true)
            case CCURL_COULDNT_CONNECT: (.cannotConnect, UnreachableHost.notConnected(url), true)
            case CCURL_PROXY: (.cannotConnect, "the proxy could not connect", true)
            case CCURL_OPERATION_TIMEDOUT:
                (.connectDeadlineExceeded, "the connection timed out", true)
            case CCURL_PEER_FAILED_VERIFICATION:
                (
                    .untrustedPeer,
                    "the certificate is not trusted, or not valid at the time that this device's clock shows", false
                )
            case CCURL_SSL_CACERT_BADFILE:
                (.tlsFailed, "the certificate authorities cannot be read (is ca-certificates installed?)", false)
            case CCURL_SSL_CONNECT_ERROR: (.tlsFailed, "the TLS handshake failed", true)
            case CCURL_BAD_CONTENT_ENCODING: (.badContentCoding, "the body cannot be decompressed", false)
            case CCURL_WEIRD_SERVER_REPLY, CCURL_UNSUPPORTED_PROTOCOL:
                wasSent
                    ? (.badResponse, "the answer is not HTTP", false)
                    : (.invalidRequest, "the address cannot be used", false)
            case CCURL_URL_MALFORMAT: (.invalidRequest, "the address cannot be used", false)
            case CCURL_GOT_NOTHING: (.connectionLost, "the connection was closed without an answer", true)
            case CCURL_PARTIAL_FILE: (.connectionLost, "the connection was closed within the body", true)
            case CCURL_SEND_ERROR, CCURL_RECV_ERROR, CCURL_HTTP2,
                CCURL_HTTP2_STREAM, CCURL_SEND_FAIL_REWIND, CCURL_UPLOAD_FAILED:
                (.connectionLost, "the connection broke", true)
            default: (.unknown, "libcurl reports error \(code)", false)
            }
        }
    }

    /// A libcurl code with its own generic text.
    struct CurlError: Error, CustomStringConvertible {
        let code: Int

        var description: String {
            "libcurl error \(code): \(ccurl_strerror(code).map { String(cString: $0) } ?? "")"
        }
    }
#endif

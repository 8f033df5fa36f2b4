#if os(Linux)
    import CSwitchyardLibraries

    extension CurlExchange {
        /// Configures a new easy handle for this exchange.
        ///
        /// - Throws: `.invalidRequest` if libcurl refuses a required option.
        func prepare(_ easy: ccurl_easy, _ configuration: CurlConfiguration) throws(TransportError) {
            let user = Unmanaged.passUnretained(self).toOpaque()
            ccurl_set_pointer(easy, CCURL_OPT_PRIVATE, user)
            CurlOptions.setCommon(easy, configuration, url: request.url, connectDeadline: request.connectDeadline)
            setTransferOptions(easy)
            setCallbacks(easy, user)
            setMethodAndBody(easy)
            try setHeaders(easy)
        }

        private func setTransferOptions(_ easy: ccurl_easy) {
            setVersion(easy)
            if request.usesFreshConnection { easy.set(CCURL_OPT_FRESH_CONNECT, 1) }
            if case .piped = delivery {
                easy.set(CCURL_OPT_BUFFERSIZE, 128 * 1024)
                CurlOptions.setKeepAlive(easy)
            }
        }

        private func setVersion(_ easy: ccurl_easy) {
            switch request.httpVersion {
            case .automatic where origin.hasPrefix("https:"):
                easy.set(CCURL_OPT_HTTP_VERSION, CCURL_HTTP_2_OVER_TLS)
                // Otherwise a burst of first requests opens one connection each until the first handshake is done. Without TLS,
                // it would wait for a complete answer instead.
                easy.set(CCURL_OPT_PIPEWAIT, 1)
            case .automatic, .http1: easy.set(CCURL_OPT_HTTP_VERSION, CCURL_HTTP_1_1)
            case .http2:
                easy.set(CCURL_OPT_HTTP_VERSION, CCURL_HTTP_2_PRIOR_KNOWLEDGE)
                if origin.hasPrefix("http:") {
                    // libcurl 7.88 breaks the second request on such a connection.
                    easy.set(CCURL_OPT_FRESH_CONNECT, 1)
                    easy.set(CCURL_OPT_FORBID_REUSE, 1)
                }
            }
        }

        private func setCallbacks(_ easy: ccurl_easy, _ user: UnsafeMutableRawPointer) {
            ccurl_set_header_callback(easy, receiveHeadLineCallback)
            ccurl_set_pointer(easy, CCURL_OPT_HEADERDATA, user)
            ccurl_set_write_callback(easy, receiveBodyCallback)
            ccurl_set_pointer(easy, CCURL_OPT_WRITEDATA, user)
            ccurl_set_prerequest_callback(easy, willSendCallback)
            ccurl_set_pointer(easy, CCURL_OPT_PREREQDATA, user)
            if upload != nil {
                ccurl_set_read_callback(easy, produceBodyCallback)
                ccurl_set_pointer(easy, CCURL_OPT_READDATA, user)
                ccurl_set_seek_callback(easy, seekBodyCallback)
                ccurl_set_pointer(easy, CCURL_OPT_SEEKDATA, user)
            }
        }

        private func setMethodAndBody(_ easy: ccurl_easy) {
            if let upload {
                easy.set(CCURL_OPT_UPLOAD, 1)
                easy.set(CCURL_OPT_UPLOAD_BUFFERSIZE, 256 * 1024)
                ccurl_set_offset(easy, CCURL_OPT_INFILESIZE_LARGE, upload.length ?? -1)
                setMethod(easy, unless: .put)
            } else if request.method == .head {
                // A HEAD through CUSTOMREQUEST would wait for a body that never comes.
                easy.set(CCURL_OPT_NOBODY, 1)
            } else if !request.body.isEmpty || [.post, .put, .patch].contains(request.method) {
                easy.set(CCURL_OPT_POST, 1)
                ccurl_set_offset(easy, CCURL_OPT_POSTFIELDSIZE_LARGE, Int64(request.body.count))
                request.body.withUnsafeBytes { bytes in
                    _ = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { empty in
                        // A null pointer would make libcurl use the read callback.
                        ccurl_set_pointer(
                            easy, CCURL_OPT_COPYPOSTFIELDS,
                            bytes.baseAddress ?? UnsafeRawPointer(empty.baseAddress))
                    }
                }
                setMethod(easy, unless: .post)
            } else {
                easy.set(CCURL_OPT_HTTPGET, 1)
                setMethod(easy, unless: .get)
            }
        }

        private func setMethod(_ easy: ccurl_easy, unless implied: HTTPMethod) {
            guard request.method != implied else { return }
            ccurl_set_string(easy, CCURL_OPT_CUSTOMREQUEST, request.method.rawValue)
        }

        private func setHeaders(_ easy: ccurl_easy) throws(TransportError) {
            let sendsBody = upload != nil || !request.body.isEmpty || request.method == .post
            if sendsBody {
                // Otherwise libcurl would wait up to a second for a server that ignores the expectation.
                try appendHeader("Expect:")
                // libcurl would label every body as a form.
                if !request.headers.contains("Content-Type") { try appendHeader("Content-Type:") }
            }
            // Decoded by `ContentDecoder`; libcurl passes on what it is not asked to decode.
            if request.decompresses, let offer = ContentDecoder.Coding.offer,
                !request.headers.contains("Accept-Encoding")
            {
                try appendHeader("Accept-Encoding: \(offer)")
            }
            for field in request.headers {
                try appendHeader(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
            }
            if let headerList { ccurl_set_pointer(easy, CCURL_OPT_HTTPHEADER, headerList) }
        }

        private func appendHeader(_ line: String) throws(TransportError) {
            guard let longer = ccurl_list_append(headerList, line) else {
                throw TransportError(.outOfResources, "out of memory", isRetryable: true)
            }
            headerList = longer
        }
    }

    extension ccurl_easy {
        fileprivate func set(_ option: Int, _ value: Int) {
            ccurl_set_long(self, option, value)
        }
    }

    /// Options shared by exchanges and raw connections.
    enum CurlOptions {
        static func setCommon(
            _ easy: ccurl_easy, _ configuration: CurlConfiguration, url: String, connectDeadline: Duration
        ) {
            ccurl_set_string(easy, CCURL_OPT_URL, url)
            easy.set(CCURL_OPT_NOSIGNAL, 1)
            // Cancelling during name resolution must not wait for the resolver's thread.
            easy.set(CCURL_OPT_QUICK_EXIT, 1)
            easy.set(CCURL_OPT_PROTOCOLS, CCURL_PROTOCOLS_HTTP_AND_HTTPS)
            easy.set(CCURL_OPT_SSLVERSION, CCURL_TLS_1_2)
            easy.set(CCURL_OPT_PATH_AS_IS, 1)
            easy.set(CCURL_OPT_SUPPRESS_CONNECT_HEADERS, 1)
            easy.set(CCURL_OPT_CONNECTTIMEOUT_MS, max(1, connectDeadline.wholeMilliseconds))
            switch configuration.trust {
            case .system: break
            case .bundle(let path): ccurl_set_string(easy, CCURL_OPT_CAINFO, path)
            case .pem(let bytes): bytes.withUnsafeBytes { _ = ccurl_set_ca_bytes(easy, $0.baseAddress, $0.count) }
            }
            switch configuration.proxy {
            case .environment: break
            case .none: ccurl_set_string(easy, CCURL_OPT_PROXY, "")
            case .address(let address):
                ccurl_set_string(easy, CCURL_OPT_PROXY, address)
                ccurl_set_string(easy, CCURL_OPT_NOPROXY, "")
            }
        }

        /// For connections that may be idle for a long time: detects a vanished peer.
        static func setKeepAlive(_ easy: ccurl_easy) {
            easy.set(CCURL_OPT_TCP_KEEPALIVE, 1)
            easy.set(CCURL_OPT_TCP_KEEPIDLE, 30)
            easy.set(CCURL_OPT_TCP_KEEPINTVL, 15)
        }

        /// Requests a connection that is handed over once it (and TLS) is established.
        static func setConnectOnly(_ easy: ccurl_easy) {
            easy.set(CCURL_OPT_CONNECT_ONLY, 1)
            // Otherwise TLS may negotiate HTTP/2, which has no upgrade.
            easy.set(CCURL_OPT_HTTP_VERSION, CCURL_HTTP_1_1)
            easy.set(CCURL_OPT_HTTPPROXYTUNNEL, 1)
            easy.set(CCURL_OPT_FRESH_CONNECT, 1)
            setKeepAlive(easy)
        }
    }

    extension Duration {
        fileprivate var wholeMilliseconds: Int {
            let (seconds, attoseconds) = components
            return Int(clamping: seconds.multipliedReportingOverflow(by: 1000).partialValue)
                + Int(attoseconds / 1_000_000_000_000_000)
        }
    }
#endif

#if os(Linux)
    import CSwitchyardLibraries

    // Raw connections; everything here runs on the loop thread.
    extension CurlLoop {
        func open(_ connection: CurlRawConnection) {
            guard connection.stage == .new else { return }
            guard let multi, let easy = ccurl_easy_new() else {
                return connection.deliverClosed(TransportError(.outOfResources, "out of memory", isRetryable: true))
            }
            CurlOptions.setCommon(
                easy, configuration, url: connection.address, connectDeadline: connection.connectDeadline)
            CurlOptions.setConnectOnly(easy)
            ccurl_set_pointer(
                easy, CCURL_OPT_PRIVATE, Unmanaged.passUnretained(connection).toOpaque())
            connection.easy = easy
            connection.stage = .connecting
            connections.append(connection)
            let result = ccurl_multi_add(multi, easy)
            if result != 0 { close(connection, TransportError(.unknown, "libcurl reports error \(result)")) }
        }

        /// libcurl has connected or failed.
        func connected(_ connection: CurlRawConnection, _ result: Int) {
            guard connection.stage == .connecting, let easy = connection.easy else { return }
            guard result == CCURL_OK else {
                return close(
                    connection,
                    CurlErrors.proxyRefusal(easy)
                        ?? CurlErrors.error(result, mayHaveBeenSent: false, isIdempotent: false))
            }
            guard ccurl_info_socket(easy, &connection.descriptor) == CCURL_OK,
                connection.descriptor >= 0
            else {
                return close(connection, TransportError(.connectionLost, "the connection broke", isRetryable: true))
            }
            // Keep the handle in the multi handle: removing it would close its connection.
            connection.handleConnected()
        }

        /// Ends a connection in any stage.
        func close(_ connection: CurlRawConnection, _ error: TransportError?) {
            guard connection.stage != .finished else { return }
            if let easy = connection.easy {
                connection.easy = nil
                connection.descriptor = -1
                connections.removeAll { $0 === connection }
                ccurl_multi_remove(multi, easy)
                ccurl_easy_free(easy)
            }
            connection.deliverClosed(error)
        }

        /// Serves each connection; returns `true` if one has more to do at once.
        func serveConnections() -> Bool {
            for entry in pollSet where entry.revents != 0 {
                guard let connection = connections.first(where: { $0.descriptor == entry.fd }) else { continue }
                if Int(entry.revents) & CCURL_POLL_IN != 0 { connection.mayHaveUnread = true }
                if Int(entry.revents) & CCURL_POLL_OUT != 0 { connection.handleWritable() }
            }
            pollSet.removeAll(keepingCapacity: true)
            var hasMore = false
            var hasEnded = false
            for connection in connections where connection.stage == .open {
                if connection.mayHaveUnread, connection.wantsReceiving { connection.handleReadable(receiveBuffer) }
                hasEnded = hasEnded || connection.isReadyToEnd
                hasMore = hasMore || (connection.mayHaveUnread && connection.wantsReceiving)
            }
            if hasEnded { endConnections() }
            return hasMore
        }

        private func endConnections() {
            for connection in connections where connection.isReadyToEnd {
                switch connection.pendingEnd {
                case .failure(let error): close(connection, error)
                default: close(connection, nil)
                }
            }
        }

        func fillPollSet() {
            pollSet.removeAll(keepingCapacity: true)
            for connection in connections where connection.stage == .open {
                var events = 0
                if connection.wantsReceiving { events |= CCURL_POLL_IN }
                if connection.wantsWritable { events |= CCURL_POLL_OUT }
                // Leave out a connection that wants nothing: a hung-up socket would be reported endlessly.
                guard events != 0 else { continue }
                pollSet.append(ccurl_waitfd(fd: connection.descriptor, events: Int16(events), revents: 0))
            }
        }
    }
#endif

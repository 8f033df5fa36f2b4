#if os(Linux)
    import CSwitchyardCurl

    // Raw connections; everything here is for whoever has the turn.
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

        /// libcurl has connected, or given up.
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
            // The handle stays in the multi handle: taken out, libcurl would close its connection.
            openConnections[connection.descriptor] = connection
            connection.handleConnected()
            serveLater(connection)
        }

        /// Ends a connection at whatever stage it is.
        func close(_ connection: CurlRawConnection, _ error: TransportError?) {
            guard connection.stage != .finished else { return }
            if let easy = connection.easy {
                connection.easy = nil
                if let poll, openConnections.removeValue(forKey: connection.descriptor) != nil {
                    cpoll_forget(poll, connection.descriptor)
                }
                connection.descriptor = -1
                connections.removeAll { $0 === connection }
                ccurl_multi_remove(multi, easy)
                ccurl_easy_free(easy)
            }
            connection.deliverClosed(error)
        }

        /// Something has happened to it, which ``serveConnections()`` sees to.
        func serveLater(_ connection: CurlRawConnection) {
            guard connection.stage == .open, !connection.isDue else { return }
            connection.isDue = true
            dueConnections.append(connection)
        }

        /// Reads from those that something has happened to, for a while; who has more to do stays due.
        func serveConnections() {
            for connection in dueConnections where connection.stage == .open && connection.mayRead {
                connection.handleReadable(receiveBuffer)
            }
            settleConnections()
        }

        /// Carries out what the handlers of those that are due have asked for. Due remains who has something to read.
        func settleConnections() {
            guard !dueConnections.isEmpty else { return }
            var left: [CurlRawConnection] = []
            swap(&left, &dueConnections)
            for connection in left {
                connection.isDue = false
                guard connection.stage == .open else { continue }
                if connection.isReadyToEnd {
                    if case .failure(let error) = connection.pendingEnd {
                        close(connection, error)
                    } else {
                        close(connection, nil)
                    }
                } else {
                    watch(connection)
                    if connection.mayRead { serveLater(connection) }
                }
            }
        }

        private func watch(_ connection: CurlRawConnection) {
            let events = connection.wantedEvents
            guard let poll, events != connection.watched else { return }
            connection.watched = events
            if events == 0 {
                cpoll_forget(poll, connection.descriptor)
            } else {
                cpoll_watch(poll, connection.descriptor, Int32(events))
            }
        }
    }
#endif

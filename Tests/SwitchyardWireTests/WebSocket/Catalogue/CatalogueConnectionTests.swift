import SwitchyardServerKit

#if os(Linux)
    import SwitchyardServerKit
    import SwitchyardTestSupport
    import SwitchyardWire
    import Synchronization
    import Testing

    /// The catalogue against the real client, over TCP: a server sends the bytes of each case and listens.
    @Suite struct `The client and the catalogue` {
        private struct Received: Sendable {
            var all: [ReplyReader.Received] = []
            var violation: WebSocketViolation?
        }

        /// Sends the bytes of `item`, and then its close frame when all replies have come.
        private static func serve(_ item: CatalogueCase, _ request: ServerRequest, _ exchange: RawExchange) async throws
            -> Received
        {
            let reader = ReplyReader()
            var received = Received()
            try await exchange.write(upgradeAnswer(to: request))
            // Written while it is read: neither side can make the other wait for ever.
            async let writing: Void = {
                for write in item.writes { try await exchange.write(write) }
            }()
            var hasClosed = item.outcome != .normal
            while true {
                if !hasClosed, received.all.count >= item.replies.count {
                    hasClosed = true
                    _ = try? await writing
                    try await exchange.write(closeFrame(1000))
                }
                guard let bytes = try await exchange.read() else { break }
                received.all += reader.read(bytes)
                received.violation = reader.violation
                if case .close = received.all.last { break }
            }
            _ = try? await writing
            return received
        }

        private func check(_ items: [CatalogueCase]) async throws {
            let received = Mutex<[String: Received]>([:])
            let table = Dictionary(uniqueKeysWithValues: items.map { ($0.number, $0) })
            let server = try LoopbackServer { request in
                guard let number = request.query("case"), let item = table[number] else {
                    return .text("no such case", status: 404)
                }
                return .raw { exchange in
                    let result = try await Self.serve(item, request, exchange)
                    received.withLock { $0[number] = result }
                }
            }
            let transport = CurlTransport()
            for item in items {
                var request = WebSocketRequest("ws://127.0.0.1:\(server.port)/?case=\(item.number)")
                request.fragmentSize = item.fragmentSize
                let (messages, error, closed) = try await echo(transport.webSocket(request))
                #expect(messages == item.messages, "\(item.number)")
                try await eventually("\(item.number) has been received") {
                    received.withLock { $0[item.number] != nil }
                }
                let result = received.withLock { $0[item.number] ?? Received() }
                #expect(result.violation == nil, "\(item.number)")
                let expected = item.replies.map { ReplyReader.Received.reply($0) }
                switch item.outcome {
                case .normal:
                    #expect(result.all == expected + [.close(.normal)], "\(item.number)")
                    #expect(error == nil && closed == .normal, "\(item.number)")
                case .closed(let close):
                    #expect(expected.starts(with: result.all.dropLast()), "\(item.number)")
                    #expect(result.all.last == .close(WebSocketClose(code: close.code)), "\(item.number)")
                    #expect(error == nil && closed == close, "\(item.number)")
                case .failed(let violation):
                    #expect(expected.starts(with: result.all.dropLast()), "\(item.number)")
                    #expect(result.all.last == .close(violation.close), "\(item.number)")
                    #expect(error?.code == .webSocketProtocol, "\(item.number)")
                    #expect(error?.underlying as? WebSocketFailure == .violation(violation), "\(item.number)")
                }
            }
            try await eventually("every connection is gone") { server.statistics.openConnections == 0 }
            await server.stop()
            await transport.shutDown()
        }

        /// Echoes until the end; what came, and how it ended.
        private func echo(
            _ socket: any WebSocketConnection
        ) async -> ([WebSocketMessage], TransportError?, WebSocketClose?) {
            var messages: [WebSocketMessage] = []
            while true {
                do throws(TransportError) {
                    guard let message = try await socket.receive() else { return (messages, nil, socket.closed) }
                    messages.append(message)
                    // The peer may have closed meanwhile; what that means is for `receive` to say.
                    do throws(TransportError) { try await socket.send(message) } catch {}
                } catch {
                    return (messages, error, socket.closed)
                }
            }
        }

        @Test(arguments: ["1", "2", "3", "4", "5", "6", "7"])
        func `Every case of the category passes`(category: String) async throws {
            let items = CatalogueCase.all.filter { $0.number.hasPrefix(category + ".") }
            #expect(!items.isEmpty)
            try await check(items)
        }

        @Test func `Every case about size passes`() async throws { try await check(CatalogueCase.large) }
    }
#endif

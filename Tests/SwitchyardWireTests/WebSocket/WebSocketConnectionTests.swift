import SwitchyardServerKit

#if os(Linux)
    import SwitchyardBytes
    import SwitchyardServerKit
    import SwitchyardTestSupport
    import SwitchyardWire
    import Synchronization
    import Testing

    @Suite struct `A web socket connection` {
        private static func echoServer(subprotocol: String? = nil) throws -> LoopbackServer {
            try LoopbackServer { request in
                .webSocket(subprotocol: subprotocol) { socket in
                    while let message = try await socket.receive() { try await socket.send(message) }
                }
            }
        }

        private static func socketURL(_ server: LoopbackServer) -> String { "ws://127.0.0.1:\(server.port)/socket?a=b" }

        @Test func `Messages come back in order, text and binary, small and large`() async throws {
            let server = try Self.echoServer()
            let transport = CurlTransport()
            let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            var messages: [WebSocketMessage] = [.text(""), .binary([]), .text("käse 🧀"), .binary([0, 255])]
            for size in [125, 126, 65_535, 65_536, 1 << 20, 5 << 20] {
                messages.append(.binary([UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)))
            }
            for message in messages {
                try await socket.send(message)
                #expect(try await socket.receive() == message)
            }
            await socket.close(.normal)
            #expect(socket.closed == .normal)
            #expect(try await socket.receive() == nil)
            await server.stop()
            await transport.shutDown()
        }

        @Test func `Ten thousand messages are sent while their echoes are read`() async throws {
            let server = try Self.echoServer()
            let transport = CurlTransport()
            let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            async let sending: Void = {
                for number in 0..<10_000 { try await socket.send(.text("message \(number)")) }
            }()
            var count = 0
            for try await message in socket.messages {
                #expect(message == .text("message \(count)"))
                count += 1
                if count == 10_000 { break }
            }
            try await sending
            await socket.close(.normal)
            await server.stop()
            await transport.shutDown()
        }

        @Test func `The subprotocol is the one that both know`() async throws {
            let server = try Self.echoServer(subprotocol: "two")
            let transport = CurlTransport()
            let socket = try await transport.webSocket(
                WebSocketRequest(Self.socketURL(server), subprotocols: ["one", "two"]))
            #expect(socket.subprotocol == "two")
            #expect(socket.head.status == 101)
            let plain = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            #expect(plain.subprotocol == nil)
            await server.stop()
            await transport.shutDown()
        }

        @Test func `The server closes with code and reason`() async throws {
            let server = try LoopbackServer { _ in
                .webSocket { socket in
                    try await socket.send(.text("last words"))
                    await socket.close(WebSocketClose(code: 4123, reason: "enough"))
                }
            }
            let transport = CurlTransport()
            let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            #expect(try await socket.receive() == .text("last words"))
            #expect(try await socket.receive() == nil)
            #expect(try await socket.receive() == nil)
            #expect(socket.closed == WebSocketClose(code: 4123, reason: "enough"))
            await #expect(throws: TransportError.self) { try await socket.send(.text("late")) }
            await socket.close(.normal)
            try await eventually("the connection is gone") { server.statistics.openConnections == 0 }
            await server.stop()
            await transport.shutDown()
        }

        @Test func `A refused upgrade surfaces status and body`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/chunks"
                    ? .stream(status: 503) { try await $0.write("come back later") } : .text("no entry", status: 403)
            }
            let transport = CurlTransport()
            for (path, status, body) in [("/", 403, "no entry"), ("/chunks", 503, "come back later")] {
                let error = await #expect(throws: TransportError.self) {
                    _ = try await transport.webSocket(WebSocketRequest("ws://127.0.0.1:\(server.port)\(path)"))
                }
                #expect(error?.code == .webSocketRefused)
                #expect(error?.response?.status == status)
                #expect(error?.response?.body == Array(body.utf8))
            }
            await server.stop()
            await transport.shutDown()
        }

        @Test func `A peer that never answers pings is noticed`() async throws {
            let gate = Gate()
            let server = try LoopbackServer { request in
                .raw { exchange in
                    try await exchange.write(upgradeAnswer(to: request))
                    try await exchange.drain()
                    gate.open()
                }
            }
            let transport = CurlTransport()
            var request = WebSocketRequest(Self.socketURL(server))
            request.keepAlive = WebSocketKeepAlive(pingAfter: .milliseconds(20), answerWithin: .milliseconds(40))
            let socket = try await transport.webSocket(request)
            let error = await #expect(throws: TransportError.self) { try await socket.receive() }
            #expect(error?.code == .stalled)
            await gate.wait()
            await server.stop()
            await transport.shutDown()
        }

        @Test func `A ping of our own comes back`() async throws {
            let server = try Self.echoServer()
            let transport = CurlTransport()
            let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            for _ in 0..<3 { try await socket.ping() }
            await socket.close(.normal)
            await #expect(throws: TransportError.self) { try await socket.ping() }
            await server.stop()
            await transport.shutDown()
        }

        @Test func `A reader that stops makes the server stop`() async throws {
            let sent = Mutex(0)
            let piece = WebSocketMessage.binary([UInt8](repeating: 1, count: 64 * 1024))
            let server = try LoopbackServer { _ in
                .webSocket { socket in
                    for _ in 0..<1000 {
                        try await socket.send(piece)
                        sent.withLock { $0 += 1 }
                    }
                }
            }
            let transport = CurlTransport()
            let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            try await eventually("the server has stopped") {
                let before = sent.withLock { $0 }
                // Standing still shows over a while only.
                try await Task.sleep(for: .milliseconds(50))
                return before > 0 && before == sent.withLock { $0 }
            }
            #expect(sent.withLock { $0 } < 400)
            for _ in 0..<1000 { #expect(try await socket.receive() == piece) }
            #expect(try await socket.receive() == nil)
            await server.stop()
            await transport.shutDown()
        }

        @Test func `A cancelled receive takes no message away`() async throws {
            let server = try Self.echoServer()
            let transport = CurlTransport()
            let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            var expected = 0
            for number in 0..<300 {
                let reader = Task { try await socket.receive() }
                try await socket.send(.text("\(number)"))
                if number % 3 == 0 { await Task.yield() }
                reader.cancel()
                if case .success(let message) = await reader.result {
                    #expect(message == .text("\(expected)"))
                    expected += 1
                }
            }
            while expected < 300 {
                #expect(try await socket.receive() == .text("\(expected)"))
                expected += 1
            }
            await socket.close(.normal)
            await server.stop()
            await transport.shutDown()
        }

        @Test func `An abrupt end is a failure, after what had arrived`() async throws {
            for reset in [false, true] {
                let server = try LoopbackServer { request in
                    .raw { exchange in
                        try await exchange.write(upgradeAnswer(to: request) + [0x81, 2, 0x68, 0x69])
                        _ = try await exchange.read()
                        if reset { exchange.reset() }
                    }
                }
                let transport = CurlTransport()
                let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
                #expect(try await socket.receive() == .text("hi"))
                try await socket.send(.text("go"))
                let error = await #expect(throws: TransportError.self) { try await socket.receive() }
                #expect(error?.code == .connectionLost)
                await #expect(throws: TransportError.self) { try await socket.send(.text("late")) }
                await server.stop()
                await transport.shutDown()
            }
        }

        @Test func `A dropped socket closes itself`() async throws {
            let closes = Mutex<[WebSocketClose?]>([])
            let server = try LoopbackServer { _ in
                .webSocket { socket in
                    while try await socket.receive() != nil {}
                    closes.withLock { $0.append(socket.closed) }
                }
            }
            let transport = CurlTransport()
            do {
                let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
                try await socket.send(.text("hello"))
            }
            try await eventually("the server has seen the close frame") { closes.withLock { $0.count } == 1 }
            #expect(closes.withLock { $0 } == [.goingAway])
            try await eventually("the connection is gone") { server.statistics.openConnections == 0 }
            await server.stop()
            await transport.shutDown()
        }

        @Test func `Closing a peer that answers nothing takes no longer than set`() async throws {
            let server = try LoopbackServer { request in
                .raw { exchange in
                    try await exchange.write(upgradeAnswer(to: request))
                    try await exchange.drain()
                }
            }
            let transport = CurlTransport()
            var request = WebSocketRequest(Self.socketURL(server))
            request.keepAlive.closeWithin = .milliseconds(50)
            let socket = try await transport.webSocket(request)
            await socket.close(.normal)
            #expect(socket.closed == nil)
            await #expect(throws: TransportError.self) { try await socket.receive() }
            try await eventually("the connection is gone") { server.statistics.openConnections == 0 }
            await server.stop()
            await transport.shutDown()
        }

        @Test func `An upgrade that is never answered ends at its deadline`() async throws {
            let server = try LoopbackServer { _ in .raw { exchange in try await exchange.drain() } }
            let transport = CurlTransport()
            var request = WebSocketRequest(Self.socketURL(server))
            request.connectDeadline = .milliseconds(60)
            let error = await #expect(throws: TransportError.self) { _ = try await transport.webSocket(request) }
            #expect(error?.code == .connectDeadlineExceeded)
            try await eventually("the connection is gone") { server.statistics.openConnections == 0 }
            await server.stop()
            await transport.shutDown()
        }

        @Test func `Shutting down ends open sockets`() async throws {
            let server = try Self.echoServer()
            let transport = CurlTransport()
            let socket = try await transport.webSocket(WebSocketRequest(Self.socketURL(server)))
            let reader = Task { try await socket.receive() }
            await transport.shutDown()
            guard case .failure(let error) = await reader.result else {
                Issue.record("a message from nowhere")
                return
            }
            #expect((error as? TransportError)?.code == .shutDown)
            await server.stop()
        }
    }
#endif

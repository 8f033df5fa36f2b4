import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Everything a peer may not do, each with the bytes that do it.
@Suite struct WebSocketViolationTests {
    private static let limits = WebSocketLimits(frameSize: 1000, messageSize: 1500)

    /// What a server would send. `unmaskedByClient` is the one thing that only a client can do.
    private static func offence(_ violation: WebSocketViolation) -> [UInt8] {
        switch violation {
        case .reservedBits: frame(1, "x", reserved: 4)
        case .reservedOpcode: frame(3, "x")
        case .maskedByServer: [0x81, 0x81, 1, 2, 3, 4, 0x79]
        case .unmaskedByClient: frame(1, "x")
        case .lengthNotMinimal: [0x82, 126, 0, 5, 1, 2, 3, 4, 5]
        case .lengthOutOfRange: [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]
        case .longControlFrame: [0x89, 126, 0, 126]
        case .fragmentedControlFrame: frame(9, "x", final: false)
        case .nothingToContinue: frame(0, "x")
        case .interruptedMessage: frame(1, "x", final: false) + frame(1, "y")
        case .invalidText: frame(1, [0x61, 0xC3, 0x28])
        case .invalidClosePayload: frame(8, [3])
        case .invalidCloseCode: closeFrame(1006)
        case .invalidCloseReason: closeFrame(1000, [0xC3, 0x28])
        case .frameTooBig: frame(2, [UInt8](repeating: 1, count: 1001))
        case .messageTooBig:
            frame(2, [UInt8](repeating: 1, count: 900), final: false) + frame(0, [UInt8](repeating: 1, count: 601))
        }
    }

    @Test(arguments: WebSocketViolation.allCases)
    func `Each offence ends the machine with its own name and close code`(violation: WebSocketViolation) {
        let bytes = Self.offence(violation)
        for cut in 0...bytes.count {
            let machine = MachineHolder(violation == .unmaskedByClient ? .server : .client, limits: Self.limits)
            let events = machine.feed(Array(bytes[..<cut])) + machine.feed(Array(bytes[cut...]))
            #expect(events.last == .failed(.violation(violation)), "cut at \(cut)")
            #expect(machine.isDone)
        }
    }

    #if os(Linux)
        @Test(arguments: WebSocketViolation.allCases.filter { $0 != .unmaskedByClient })
        func `Each offence of a server is a typed failure, behind what came before it`(
            violation: WebSocketViolation
        ) async throws {
            let server = try LoopbackServer { request in
                let answer = WebSocketUpgrade.answer(to: request.headers)
                return .raw { exchange in
                    let lines = answer.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
                    try await exchange.write("HTTP/1.1 101 Switching Protocols\r\n\(lines)\r\n")
                    try await exchange.write(frame(1, "before") + Self.offence(violation))
                    try await exchange.drain()
                }
            }
            let transport = CurlTransport()
            var request = WebSocketRequest(server.url("/"))
            request.maximumFrameSize = Self.limits.frameSize
            request.maximumMessageSize = Self.limits.messageSize
            let socket = try await transport.webSocket(request)
            #expect(try await socket.receive() == .text("before"))
            let error = try await failure { try await socket.receive() }
            let isTooLarge = [.frameTooBig, .messageTooBig].contains(violation)
            #expect(error.code == (isTooLarge ? .webSocketMessageTooLarge : .webSocketProtocol))
            #expect(error.underlying as? WebSocketFailure == .violation(violation))
            let late = try await failure { try await socket.send(.text("late")) }
            #expect(late == error)
            try await eventually("the connection is gone") { server.statistics.openConnections == 0 }
            await transport.shutDown()
            await server.stop()
        }
    #endif
}

import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@Suite struct RawConnectionTests {
    /// Writes down what happens; sends what it is given when woken.
    final class Recorder: RawConnectionHandler {
        struct State {
            var events: [String] = []
            var received: [UInt8] = []
            var outbox: [UInt8] = []
            var error: TransportError?
        }

        let state = Mutex(State())
        let onReceive: @Sendable (any RawConnection) -> Void

        init(onReceive: @escaping @Sendable (any RawConnection) -> Void = { _ in }) {
            self.onReceive = onReceive
        }

        var events: [String] { state.withLock(\.events) }
        var receivedCount: Int { state.withLock(\.received.count) }

        func connected(_ connection: any RawConnection) { state.withLock { $0.events.append("connected") } }

        func received(_ bytes: UnsafeRawBufferPointer, on connection: any RawConnection) {
            state.withLock { $0.received.append(contentsOf: bytes) }
            onReceive(connection)
        }

        func writable(_ connection: any RawConnection) { flush(connection) }
        func woken(_ connection: any RawConnection) { flush(connection) }

        func closed(_ connection: any RawConnection, error: TransportError?) {
            state.withLock { state in
                state.events.append("closed \(error?.code.rawValue ?? "in order")")
                state.error = error
            }
        }

        private func flush(_ connection: any RawConnection) {
            state.withLock { state in
                let taken = state.outbox.withUnsafeBytes { connection.send($0) }
                state.outbox.removeFirst(taken)
            }
        }
    }

    private func echo() throws -> FaultServer {
        try FaultServer { connection in
            while true {
                let bytes = connection.read(1)
                guard !bytes.isEmpty, connection.write(bytes) else { return }
            }
        }
    }

    @Test func `Bytes go both ways, wake-ups are merged, and closing is in order`() async throws {
        let server = try echo()
        let transport = CurlTransport()
        let recorder = Recorder()
        let connection = transport.open(
            "ws://127.0.0.1:\(server.port)", connectDeadline: .seconds(5), handler: recorder)
        try await eventually("connected") { recorder.events == ["connected"] }
        for index in 0..<100 {
            recorder.state.withLock { $0.outbox.append(UInt8(index)) }
            connection.wake()
        }
        try await eventually("all is back") { recorder.receivedCount == 100 }
        #expect(recorder.state.withLock { $0.received } == (0..<100).map { UInt8($0) })
        server.stop()
        try await eventually("closed") { recorder.events == ["connected", "closed in order"] }
        await transport.shutDown()
    }

    @Test(.needs(.openssl, .python), arguments: ["ws", "wss"])
    func `A peer that does not read is waited for, and nothing is lost`(scheme: String)
        async throws
    {
        let size = 20_000_000
        let certificates = try TestCertificates.make()
        defer { certificates.remove() }
        var configuration = CurlConfiguration()
        configuration.trust = .bundle(path: certificates.authority)
        let transport = CurlTransport(configuration)
        let recorder = Recorder()
        let go = TurnGate()
        let sum = Counter()
        let plain = try FaultServer { connection in
            go.wait()
            sum.add(connection.drain())
        }
        // Over TLS a request with a long body stands for the same: the server counts it and answers.
        let server = scheme == "wss" ? try TLSServer(certificates, "good") : nil
        let connection = transport.open(
            "\(scheme)://localhost:\(server?.port ?? plain.port)", connectDeadline: .seconds(5), handler: recorder)
        try await eventually("connected") { recorder.events == ["connected"] }
        recorder.state.withLock { state in
            if scheme == "wss" { state.outbox += Array("PUT /x HTTP/1.1\r\nContent-Length: \(size)\r\n\r\n".utf8) }
            state.outbox += [UInt8](repeating: 1, count: size)
        }
        connection.wake()
        if scheme == "wss" {
            try await eventually("answered") { recorder.receivedCount > 0 }
            #expect(String(decoding: recorder.state.withLock { $0.received }, as: UTF8.self).hasSuffix("PUT /x"))
        } else {
            #expect(recorder.state.withLock { !$0.outbox.isEmpty } || sum.value == 0)
            go.open()
            try await eventually("all is gone") { recorder.state.withLock { $0.outbox.isEmpty } }
        }
        connection.cancel()
        try await eventually("closed") { recorder.events.last == "closed cancelled" }
        if scheme == "ws" { try await eventually("all has arrived") { sum.value == size } }
    }

    @Test func `Reading can be stopped and resumed`() async throws {
        let server = try FaultServer { connection in
            connection.write([UInt8](repeating: 1, count: 10_000_000))
            connection.drain()
        }
        let transport = CurlTransport()
        let recorder = Recorder { $0.setReceiving(false) }
        let connection = transport.open(
            "http://127.0.0.1:\(server.port)", connectDeadline: .seconds(5), handler: recorder)
        try await eventually("the first bytes") { recorder.receivedCount > 0 }
        let before = recorder.receivedCount
        connection.wake()
        #expect(recorder.receivedCount == before && before <= 128 * 1024)
        connection.cancel()
        connection.cancel()
        try await eventually("closed") { recorder.events == ["connected", "closed cancelled"] }
        try await eventually("the server notices") { server.runningCount == 0 }
    }

    @Test func `Connections that cannot be made are closed with the reason, once`() async throws {
        let transport = CurlTransport()
        let gone = try echo()
        gone.stop()
        try await eventually("the listener is gone") { gone.runningCount == 0 }
        let cases = [("ws://no-such-host.invalid", "hostNotFound"), ("nonsense", "invalidRequest")]
        for (address, code) in cases {
            let recorder = Recorder()
            transport.open(address, connectDeadline: .seconds(5), handler: recorder)
            try await eventually(code) { recorder.events == ["closed \(code)"] }
        }
        await transport.shutDown()
        let late = Recorder()
        transport.open("ws://127.0.0.1:1", connectDeadline: .seconds(5), handler: late)
        #expect(late.events == ["closed shutDown"])
    }
}

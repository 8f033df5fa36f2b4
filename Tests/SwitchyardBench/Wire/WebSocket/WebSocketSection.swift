#if os(Linux)
    import Foundation
    import SwitchyardWire

    /// Round trips of small messages one at a time, and the maximum throughput.
    struct WebSocketSection: BenchSection {
        let name = "web-socket"

        private static let message = WebSocketMessage.text(String(repeating: "0123456789", count: 12))
        /// Two bytes of header; the server does not mask.
        private static let echoSize = 122

        func run(_ bench: Bench) async throws {
            let server = try ChildServer(section: name)
            defer { server.stop() }
            let transport = CurlTransport()
            try await roundTrips(bench, server.port, transport)
            try await flood(bench, server.port, transport)
            await transport.shutDown()
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            try EchoServer.serve()
            return 0
        }

        private func roundTrips(_ bench: Bench, _ port: Int, _ transport: CurlTransport) async throws {
            let count = bench.settings.count(20_000, quick: 200)
            let socket = try await transport.webSocket(WebSocketRequest("ws://127.0.0.1:\(port)/"))
            let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1)).run([
                .init("blocking libcurl") {
                    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                        Thread.detachNewThread { done.resume(with: Result { try Self.blocking(port, count) }) }
                    }
                },
                .init("switchyard, on the transport's thread") {
                    try await withTaskExecutorPreference(transport.executor) {
                        try await Self.exchange(count, over: socket)
                    }
                },
                .init("switchyard, on any thread") { try await Self.exchange(count, over: socket) },
            ])
            for result in results {
                await bench.report("round trips of 120 B, \(result.name)", Double(count) / result.seconds, "/s")
                await bench.report("CPU of a round trip, \(result.name)", result.cpuSeconds / Double(count) * 1e6, "µs")
            }
            let shares = results.map { results[0].seconds / $0.seconds }
            await bench.report("round trips on the thread, share of blocking libcurl", shares[1], "×", .atLeast(0.8))
            await bench.report("round trips on any thread, share of blocking libcurl", shares[2], "×")
            await socket.close(.normal)
        }

        private static func exchange(_ count: Int, over socket: any WebSocketConnection) async throws {
            for _ in 0..<count {
                try await socket.send(message)
                guard try await socket.receive() == message else { throw BenchFailure("a wrong echo") }
            }
        }

        private static func blocking(_ port: Int, _ count: Int) throws {
            let socket = try BlockingWebSocket("http://127.0.0.1:\(port)/")
            for _ in 0..<count { try socket.roundTrip(message, echoSize: echoSize) }
        }

        private func flood(_ bench: Bench, _ port: Int, _ transport: CurlTransport) async throws {
            let count = bench.settings.count(1_000_000, quick: 10_000)
            let socket = try await transport.webSocket(WebSocketRequest("ws://127.0.0.1:\(port)/"))
            let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run([
                .init("switchyard") {
                    async let sending: Void = {
                        for _ in 0..<count { try await socket.send(Self.message) }
                    }()
                    var received = 0
                    while received < count, try await socket.receive() != nil { received += 1 }
                    try await sending
                    guard received == count else { throw BenchFailure("messages are missing") }
                }
            ])
            await bench.report(
                "flood of 120 B with echo, each way", Double(count) / results[0].seconds, "/s", .atLeast(1_000_000))
            await bench.report(
                "CPU of a message there and back", results[0].cpuSeconds / Double(count) * 1e6, "µs")
            await socket.close(.normal)
        }
    }
#endif

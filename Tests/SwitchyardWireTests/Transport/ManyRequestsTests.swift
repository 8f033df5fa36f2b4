import Glibc
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct ManyRequestsTests {
    /// HTTP/1.1 in a process of its own: answers every request with its path.
    private static let script = """
        import asyncio, sys
        async def serve(reader, writer):
            try:
                while True:
                    head = await reader.readuntil(b"\\r\\n\\r\\n")
                    path = head.split(b" ", 2)[1]
                    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(path), path))
                    await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()
        async def main():
            server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            import os
            os._exit(0)
        asyncio.run(main())
        """

    @Test(.needs(.python)) func `Ten thousand requests at once are all answered, each with its own answer`()
        async throws
    {
        let server = try ToolProcess("python3", ["-c", Self.script])
        let port = try #require(Int(server.firstLine()))
        let transport = CurlTransport()
        let correct = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<10_000 {
                group.addTask {
                    let response = try await transport.send(HTTPRequest(.get, "http://127.0.0.1:\(port)/\(index)"))
                    return response.body == Array("/\(index)".utf8)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(correct == 10_000)
        try await eventually("nothing is left") { transport.liveExchangeCount == 0 }
    }

    @Test func `Beyond the limit per origin exchanges wait, and a cancelled one does not block the others`()
        async throws
    {
        let arrived = Counter()
        let go = Gate()
        let server = try FaultServer { connection in
            while connection.readHead() != nil {
                arrived.add(1)
                while !go.isOpen { usleep(1000) }
                guard connection.write(answer("x")) else { return }
            }
        }
        var configuration = CurlConfiguration()
        configuration.maximumExchangesPerOrigin = 4
        let transport = CurlTransport(configuration)
        let tasks = (0..<12).map { _ in Task { try await transport.send(HTTPRequest(.get, server.url)).status } }
        try await eventually("four have arrived") { arrived.value == 4 && transport.liveExchangeCount == 12 }
        let waiting = tasks.suffix(6)
        let late = Task { try await transport.send(HTTPRequest(.post, server.url)) }
        late.cancel()
        let error = try await failure { try await late.value }
        #expect(error.code == .cancelled && !error.mayHaveBeenSent)
        #expect(arrived.value == 4)
        go.open()
        for task in tasks { #expect(try await task.value == 200) }
        #expect(waiting.count == 6 && server.acceptedCount == 4)
    }
}

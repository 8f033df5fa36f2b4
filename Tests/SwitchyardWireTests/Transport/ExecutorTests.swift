import Glibc
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardWire

@Suite struct ExecutorTests {
    private static func echoServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            guard request.headers.contains("Upgrade") else { return .text("fine") }
            return .webSocket { socket in
                while let message = try await socket.receive() { try await socket.send(message) }
            }
        }
    }

    @Test func `A task that prefers the transport's thread stays on it, from request to answer`() async throws {
        let server = try Self.echoServer()
        let transport = CurlTransport()
        let threads = Mutex<Set<UInt>>([])
        func note() { threads.withLock { _ = $0.insert(UInt(pthread_self())) } }
        let task = Task(executorPreference: transport.executor) {
            note()
            let socket = try await transport.webSocket(WebSocketRequest(server.url("/")))
            for number in 0..<50 {
                note()
                try await socket.send(.text("\(number)"))
                #expect(try await socket.receive() == .text("\(number)"))
            }
            note()
            #expect(try await transport.send(HTTPRequest(.get, server.url("/"))).status == 200)
            note()
            await socket.close(.normal)
        }
        try await task.value
        #expect(threads.withLock { $0.count } == 1)
        await transport.shutDown()
        await server.stop()
    }

    @Test func `Tasks that never pause do not keep transfers from moving`() async throws {
        let server = try Self.echoServer()
        let transport = CurlTransport()
        let busy = Task(executorPreference: transport.executor) {
            while !Task.isCancelled { await Task.yield() }
        }
        for _ in 0..<20 { #expect(try await transport.send(HTTPRequest(.get, server.url("/"))).status == 200) }
        busy.cancel()
        await busy.value
        await transport.shutDown()
        await server.stop()
    }

    @Test func `Tasks go on elsewhere when the transport has ended`() async throws {
        let transport = CurlTransport()
        let gate = Gate()
        let task = Task(executorPreference: transport.executor) {
            try await gate.pass()
            return try await transport.send(HTTPRequest(.get, "http://127.0.0.1:1/"))
        }
        try await eventually("it waits") { gate.waiting == 1 }
        await transport.shutDown()
        gate.open()
        let error = try await failure { try await task.value }
        #expect(error.code == .shutDown)
        #expect(await Task(executorPreference: transport.executor) { 7 }.value == 7)
    }

    @Test func `Tasks on a transport that ends at any moment all run to their end, once`() async throws {
        let server = try Self.echoServer()
        let url = server.url("/")
        let ends = Counter()
        var random = SeededGenerator(seed: 3)
        for round in 0..<150 {
            var tasks: [Task<Void, Never>] = []
            do {
                let transport = CurlTransport()
                for number in 0..<6 {
                    tasks.append(
                        Task(executorPreference: transport.executor) {
                            await Self.hop(number, transport, url)
                            ends.add(1)
                        })
                }
                for _ in 0..<random.below(30) { await Task.yield() }
                if round % 3 == 0 { await transport.shutDown() }
            }
            if round % 3 == 1 { for task in tasks { task.cancel() } }
            // The last of them lets go of the transport, on the thread that ends with it.
            for task in tasks { await task.value }
        }
        #expect(ends.value == 150 * 6)
        await server.stop()
    }

    /// Comes back to the preferred thread in each of the ways there are.
    private static func hop(_ number: Int, _ transport: CurlTransport, _ url: String) async {
        for step in 0..<4 {
            switch (number + step) % 3 {
            case 0: _ = try? await transport.send(HTTPRequest(.get, url))
            case 1: await Task.yield()
            default:
                // Children prefer the same thread.
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 { group.addTask { await Task.yield() } }
                }
            }
        }
    }

    @Test func `Without a thread to be had everything is refused, and works when there is one`() async throws {
        let server = try Self.echoServer()
        let isRefusing = Atomic(true)
        let transport = CurlTransport(.init()) { body throws(LoopThread.Refusal) in
            if isRefusing.load(ordering: .relaxed) {
                throw LoopThread.Refusal(code: 11)
            }
            try LoopThread.start(body)
        }
        let request = HTTPRequest(.post, server.url("/"), body: [1])
        for _ in 0..<3 {
            let error = try await failure { try await transport.send(request) }
            #expect(error.code == .outOfResources && error.isRetryable && !error.mayHaveBeenSent)
            let refused = try await failure { try await transport.webSocket(WebSocketRequest(server.url("/"))) }
            #expect(refused.code == .outOfResources)
        }
        #expect(await Task(executorPreference: transport.executor) { 7 }.value == 7)
        #expect(transport.liveExchangeCount == 0)
        isRefusing.store(false, ordering: .relaxed)
        #expect(try await transport.send(request).status == 200)
        await transport.shutDown()
        await server.stop()
    }
}

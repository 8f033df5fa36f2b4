import Foundation
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardURLSession

/// Web sockets over a system task that calls back late, twice or never, as the real one was seen to.
@Suite struct SessionWebSocketTests {
    /// Remembers what it was asked, and calls back when the test says so.
    private final class Task: SocketTask {
        typealias Done = @Sendable ((any Error)?) -> Void
        typealias Taken = @Sendable (Result<WebSocketMessage, any Error>) -> Void

        private struct State {
            var head: HTTPResponseHead?
            var closed: WebSocketClose?
            var pings: [Done] = []
            var sends: [Done] = []
            var receives: [Taken] = []
            var isCancelled = false
        }

        private let state = Mutex(State())

        init(status: Int? = 101) {
            state.withLock { $0.head = status.map { HTTPResponseHead(status: $0, headers: [:], url: "ws://a") } }
        }

        var head: HTTPResponseHead? { state.withLock { $0.head } }
        var closed: WebSocketClose? { state.withLock { $0.closed } }
        var pings: [Done] { state.withLock { $0.pings } }
        var sends: [Done] { state.withLock { $0.sends } }
        var receives: [Taken] { state.withLock { $0.receives } }
        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        func resume() {}
        func send(_ message: WebSocketMessage, _ done: @escaping Done) { state.withLock { $0.sends.append(done) } }
        func receive(_ done: @escaping Taken) { state.withLock { $0.receives.append(done) } }
        func ping(_ done: @escaping Done) { state.withLock { $0.pings.append(done) } }
        func cancel(_ close: WebSocketClose?) { state.withLock { $0.isCancelled = true } }
        func close(_ close: WebSocketClose) { state.withLock { $0.closed = close } }
    }

    private typealias Running = _Concurrency.Task
    private let waits = SessionWebSocket.Waits()

    private func open(_ task: Task, clock: any Clock<Duration> = ContinuousClock()) async throws -> SessionWebSocket {
        async let socket = SessionWebSocket.open(task, waits, to: "ws://a", within: .seconds(15), clock: clock)
        try await eventually("the upgrade is pinged") { task.pings.count == 1 }
        task.pings[0](nil)
        return try await socket
    }

    private func code(_ body: () async throws -> Void) async -> TransportError.Code? {
        do { try await body() } catch { return (error as? TransportError)?.code }
        return nil
    }

    @Test func `A ping that calls back twice is answered once`() async throws {
        let task = Task()
        let socket = try await open(task)
        task.pings[0](URLError(.networkConnectionLost))
        async let pong: Void = socket.ping()
        try await eventually("it is pinged") { task.pings.count == 2 }
        task.pings[1](nil)
        task.pings[1](URLError(.cancelled))
        try await pong
    }

    @Test func `A connection that never calls back is given up in time, and its task with it`() async throws {
        let task = Task(status: nil)
        let clock = ManualClock()
        let opening = Running { [waits] in
            try await SessionWebSocket.open(task, waits, to: "ws://a", within: .seconds(15), clock: clock)
        }
        try await eventually("the deadline runs") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(15))
        #expect(await code { _ = try await opening.value } == .connectDeadlineExceeded)
        #expect(task.isCancelled)
    }

    @Test func `A pong that never comes ends the ping after half a minute`() async throws {
        let task = Task()
        let clock = ManualClock()
        let socket = try await open(task, clock: clock)
        let pinging = Running { try await socket.ping() }
        try await eventually("the deadline runs") { clock.deadlines.contains { $0.offset == .seconds(30) } }
        clock.advance(by: .seconds(30))
        #expect(await code { try await pinging.value } == .stalled)
    }

    @Test func `The end of the task ends whatever waits, and what comes later`() async throws {
        let task = Task()
        let socket = try await open(task)
        let receiving = Running { try await socket.receive() }
        let sending = Running { try await socket.send(.text("a")) }
        let pinging = Running { try await socket.ping() }
        try await eventually("all of them wait") {
            task.receives.count == 1 && task.sends.count == 1 && task.pings.count == 2
        }
        waits.end(URLError(.networkConnectionLost))
        #expect(await code { _ = try await receiving.value } == .connectionLost)
        #expect(await code { try await sending.value } == .connectionLost)
        #expect(await code { try await pinging.value } == .connectionLost)
        #expect(await code { try await socket.send(.text("b")) } == .connectionLost)
    }

    @Test func `A cancelled call returns at once, and the next one gets the message`() async throws {
        let task = Task()
        let socket = try await open(task)
        let receiving = Running { try await socket.receive() }
        try await eventually("a message is waited for") { task.receives.count == 1 }
        receiving.cancel()
        #expect(await code { _ = try await receiving.value } == .cancelled)
        let sending = Running { try await socket.send(.text("a")) }
        try await eventually("a message is being sent") { task.sends.count == 1 }
        sending.cancel()
        #expect(await code { try await sending.value } == .cancelled)
        task.receives[0](.success(.text("kept")))
        #expect(try await socket.receive() == .text("kept"))
        #expect(task.receives.count == 1)
    }

    @Test func `A refused upgrade is reported with its status, and a closed socket without an error`() async throws {
        let refused = Task(status: 403)
        let opening = Running { [waits] in
            try await SessionWebSocket.open(refused, waits, to: "ws://a", within: .seconds(15))
        }
        try await eventually("the upgrade is pinged") { refused.pings.count == 1 }
        refused.pings[0](URLError(.badServerResponse))
        let error = await #expect(throws: TransportError.self) { try await opening.value }
        #expect(error?.code == .webSocketRefused && error?.response?.status == 403 && refused.isCancelled)

        let task = Task()
        let socket = try await open(task)
        task.close(WebSocketClose(code: 1000, reason: "bye"))
        let receiving = Running { try await socket.receive() }
        try await eventually("a message is waited for") { task.receives.count == 1 }
        task.receives[0](.failure(URLError(.networkConnectionLost)))
        #expect(try await receiving.value == nil)
        #expect(socket.closed?.reason == "bye")
    }

    @Test func `A socket without references ends its task`() async throws {
        let task = Task()
        var socket: SessionWebSocket? = try await open(task)
        #expect(socket?.closed == nil && !task.isCancelled)
        socket = nil
        #expect(task.isCancelled)
    }
}

import Foundation
import SwitchyardBytes
import SwitchyardWire
import Synchronization

/// A ``SocketTask`` as a ``WebSocketConnection``.
///
/// Each wait ends with the first of: the callback, the end of the task, the caller's cancellation, and for pings a deadline.
/// Later callbacks have no effect.
final class SessionWebSocket: WebSocketConnection {
    private typealias Outcome<Value> = Result<Value, TransportError>

    private struct State {
        /// Fails everything that waits, by number.
        var waiting: [Int: @Sendable (TransportError) -> Void] = [:]
        var lastNumber = 0
        /// The message that was asked for and has not been taken.
        var message: Promise<Outcome<WebSocketMessage>>?
        var end: TransportError?
    }

    let head: HTTPResponseHead
    private let task: any SocketTask
    private let waits: Waits
    private let clock: any Clock<Duration>
    private static let pongDeadline = Duration.seconds(30)

    var subprotocol: String? { head.headers["Sec-WebSocket-Protocol"] }
    var closed: WebSocketClose? { task.closed }

    private init(_ task: any SocketTask, _ waits: Waits, head: HTTPResponseHead, clock: any Clock<Duration>) {
        self.task = task
        self.waits = waits
        self.head = head
        self.clock = clock
    }

    /// - Parameter waits: Signaled by the session when the task ends.
    static func open(
        _ task: any SocketTask, _ waits: Waits, to url: String, within deadline: Duration,
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(TransportError) -> SessionWebSocket {
        task.resume()
        do throws(TransportError) {
            // A pong proves that the upgrade is complete.
            try await ping(
                task, waits, within: deadline, clock,
                late: TransportError(
                    .connectDeadlineExceeded, "no connection within \(deadline)", isRetryable: true))
        } catch {
            let head = task.head
            task.cancel(nil)
            guard let head, head.status != 0, head.status != 101 else { throw error }
            throw TransportError(
                .webSocketRefused, "the server answered \(head.status)", mayHaveBeenSent: true,
                response: HTTPResponse(head: head))
        }
        return SessionWebSocket(
            task, waits, head: task.head ?? HTTPResponseHead(status: 101, headers: [:], url: url), clock: clock)
    }

    deinit { task.cancel(nil) }

    func send(_ message: WebSocketMessage) async throws(TransportError) {
        try await waits.first { [task] (done: @escaping @Sendable (Result<Void, any Error>) -> Void) in
            task.send(message) { error in done(error.map { .failure($0) } ?? .success(())) }
        }
    }

    func receive() async throws(TransportError) -> WebSocketMessage? {
        do throws(TransportError) {
            return try await waits.nextMessage(of: task)
        } catch {
            if error.code != .cancelled, closed != nil { return nil }
            throw error
        }
    }

    func ping() async throws(TransportError) {
        let late = TransportError(.stalled, "no pong within \(Self.pongDeadline)", mayHaveBeenSent: true)
        try await Self.ping(task, waits, within: Self.pongDeadline, clock, late: late)
    }

    private static func ping(
        _ task: any SocketTask, _ waits: Waits, within deadline: Duration, _ clock: any Clock<Duration>,
        late: TransportError
    ) async throws(TransportError) {
        try await waits.first(within: deadline, clock, late: late) {
            (done: @escaping @Sendable (Result<Void, any Error>) -> Void) in
            task.ping { error in done(error.map { .failure($0) } ?? .success(())) }
        }
    }

    func close(_ close: WebSocketClose) async { task.cancel(close) }

    // MARK: Waiting

    /// Everything on one socket that waits for a callback.
    final class Waits: Sendable {
        private let state = Mutex(State())

        init() {}

        /// The task is over: nothing will call back any more.
        func end(_ error: (any Error)?) {
            let reason =
                error.map { SessionErrors.ofSocket($0) }
                ?? TransportError(.webSocketClosed, "the connection is closed", mayHaveBeenSent: true)
            let waiting = state.withLock { state in
                state.end = state.end ?? reason
                defer { state.waiting = [:] }
                return state.waiting
            }
            for fail in waiting.values { fail(reason) }
        }

        fileprivate func first<Value: Sendable>(
            within deadline: Duration? = nil, _ clock: any Clock<Duration> = ContinuousClock(),
            late: TransportError? = nil,
            _ begin: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
        ) async throws(TransportError) -> Value {
            let promise = Promise<Outcome<Value>>()
            let number = add { promise.resolve(.failure($0)) }
            defer { remove(number) }
            begin { result in
                promise.resolve(result.mapError { SessionErrors.ofSocket($0) })
            }
            let timer = deadline.map { deadline in
                Task {
                    guard let late, (try? await clock.sleep(for: deadline)) != nil else { return }
                    promise.resolve(.failure(late))
                }
            }
            defer { timer?.cancel() }
            guard let outcome = await promise.value else { throw Self.cancelled }
            return try outcome.get()
        }

        /// A cancelled call leaves the message to the next one.
        fileprivate func nextMessage(of task: any SocketTask) async throws(TransportError) -> WebSocketMessage {
            let (promise, isNew) = state.withLock { state in
                if let message = state.message { return (message, false) }
                let promise = Promise<Outcome<WebSocketMessage>>()
                state.message = promise
                return (promise, true)
            }
            if isNew {
                let number = add { promise.resolve(.failure($0)) }
                task.receive { [weak self] result in
                    self?.remove(number)
                    promise.resolve(result.mapError { SessionErrors.ofSocket($0) })
                }
            }
            guard let outcome = await promise.value else { throw Self.cancelled }
            state.withLock { $0.message = nil }
            return try outcome.get()
        }

        /// - Parameter fail: Called at once if the task is already over.
        private func add(_ fail: @escaping @Sendable (TransportError) -> Void) -> Int {
            let (number, end) = state.withLock { state -> (Int, TransportError?) in
                state.lastNumber += 1
                if state.end == nil { state.waiting[state.lastNumber] = fail }
                return (state.lastNumber, state.end)
            }
            if let end { fail(end) }
            return number
        }

        private func remove(_ number: Int) { state.withLock { _ = $0.waiting.removeValue(forKey: number) } }

        private static let cancelled = TransportError(.cancelled, "the exchange was cancelled", mayHaveBeenSent: true)
    }
}

/// What ``SessionWebSocket`` needs of `URLSessionWebSocketTask`.
///
/// A callback may come late, twice or, as after a broken connection, never; nothing here is cancelled with a Swift task.
protocol SocketTask: AnyObject, Sendable {
    /// The answer to the upgrade, once there is one.
    var head: HTTPResponseHead? { get }
    /// How the peer has closed, if it has.
    var closed: WebSocketClose? { get }

    func resume()
    func send(_ message: WebSocketMessage, _ done: @escaping @Sendable ((any Error)?) -> Void)
    func receive(_ done: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void)
    func ping(_ done: @escaping @Sendable ((any Error)?) -> Void)
    /// - Parameter close: What to send to the peer; `nil` to end at once.
    func cancel(_ close: WebSocketClose?)
}

#if !canImport(FoundationNetworking)
    /// The system handles frames, masking and pongs.
    final class SystemSocketTask: SocketTask {
        private let task: URLSessionWebSocketTask
        private let url: String

        init(_ task: URLSessionWebSocketTask, url: String) {
            self.task = task
            self.url = url
        }

        var head: HTTPResponseHead? {
            guard let answer = task.response as? HTTPURLResponse else { return nil }
            var headers = HTTPHeaders()
            for (name, value) in answer.allHeaderFields {
                if let name = name as? String, let value = value as? String { headers.add(name, value) }
            }
            return HTTPResponseHead(status: answer.statusCode, headers: headers, url: url)
        }

        var closed: WebSocketClose? {
            guard task.closeCode != .invalid else { return nil }
            let reason = String(decoding: task.closeReason ?? Data(), as: UTF8.self)
            return WebSocketClose(code: UInt16(clamping: task.closeCode.rawValue), reason: reason)
        }

        func resume() { task.resume() }

        func send(_ message: WebSocketMessage, _ done: @escaping @Sendable ((any Error)?) -> Void) {
            switch message {
            case .text(let text): task.send(.string(text), completionHandler: done)
            case .binary(let bytes): task.send(.data(Data(bytes)), completionHandler: done)
            }
        }

        func receive(_ done: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
            task.receive { result in
                switch result {
                case .success(.string(let text)): done(.success(.text(text)))
                case .success(.data(let data)): done(.success(.binary(Array(data))))
                case .success: done(.failure(TransportError(.webSocketProtocol, "a message of an unknown kind")))
                case .failure(let error): done(.failure(error))
                }
            }
        }

        func ping(_ done: @escaping @Sendable ((any Error)?) -> Void) { task.sendPing(pongReceiveHandler: done) }

        func cancel(_ close: WebSocketClose?) {
            guard let close else { return task.cancel() }
            task.cancel(
                with: URLSessionWebSocketTask.CloseCode(rawValue: Int(close.code)) ?? .normalClosure,
                reason: Data(close.reason.utf8))
        }
    }
#endif

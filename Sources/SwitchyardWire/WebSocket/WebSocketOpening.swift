import Synchronization

/// Handles a raw connection until the upgrade has been answered, then passes everything to the session.
package final class WebSocketOpening: RawConnectionHandler, @unchecked Sendable {
    // `@unchecked Sendable`: `shared` has a lock, `request` is immutable; `handshake` and `session` are used only by the loop
    // thread, and by `init`.

    private struct Shared {
        var waiting: CheckedContinuation<Result<WebSocketHandle, TransportError>, Never>?
        var connection: (any RawConnection)?
        var isCancelled = false
    }

    private let request: WebSocketRequest
    private let shared = Mutex(Shared())
    private var handshake: WebSocketHandshake
    private var session: WebSocketSession?
    private var unsent: ArraySlice<UInt8>

    /// Connects, upgrades and returns the open socket, all within the request's deadline.
    package static func open(
        _ request: WebSocketRequest, over connector: any RawConnector
    ) async throws(TransportError) -> any WebSocketConnection {
        var generator = SystemRandomNumberGenerator()
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let handshake = try WebSocketHandshake(request, key: key)
        do throws(TransportError) {
            return try await withDeadline(request.connectDeadline) { () throws(TransportError) in
                try await WebSocketOpening(request, handshake).run(over: connector)
            }
        } catch {
            guard error.code == .deadlineExceeded else { throw error }
            throw TransportError(
                .connectDeadlineExceeded, "the web socket was not open in time", isRetryable: true,
                mayHaveBeenSent: error.mayHaveBeenSent)
        }
    }

    private init(_ request: WebSocketRequest, _ handshake: WebSocketHandshake) {
        self.request = request
        self.handshake = handshake
        unsent = handshake.requestBytes[...]
    }

    private func run(over connector: any RawConnector) async throws(TransportError) -> WebSocketHandle {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                shared.withLock { $0.waiting = continuation }
                let connection = connector.open(
                    request.url, connectDeadline: request.connectDeadline, handler: self)
                let isCancelled = shared.withLock { shared in
                    shared.connection = connection
                    return shared.isCancelled
                }
                if isCancelled { connection.cancel() }
            }
        } onCancel: {
            let connection = shared.withLock { shared in
                shared.isCancelled = true
                return shared.connection
            }
            connection?.cancel()
        }
        shared.withLock { $0.connection = nil }
        return try result.get()
    }

    private func finish(_ result: Result<WebSocketHandle, TransportError>) {
        let waiting = shared.withLock { shared in
            defer { shared.waiting = nil }
            return shared.waiting
        }
        waiting?.resume(returning: result)
    }

    // MARK: The loop thread

    package func connected(_ connection: any RawConnection) { sendRequest(on: connection) }

    package func received(_ bytes: UnsafeRawBufferPointer, on connection: any RawConnection) {
        if let session { return session.received(bytes, on: connection) }
        switch handshake.receive(bytes) {
        case .needsMore: break
        case .failed(let error):
            finish(.failure(error))
            connection.close()
        case .open(let head, let subprotocol, let rest):
            let session = WebSocketSession(
                role: .client,
                limits: WebSocketLimits(
                    frameSize: request.maximumFrameSize, messageSize: request.maximumMessageSize,
                    fragmentSize: request.fragmentSize),
                keepAlive: request.keepAlive, inboxLimit: request.inboxLimit)
            self.session = session
            session.connected(connection)
            finish(.success(WebSocketHandle(session, head: head, subprotocol: subprotocol)))
            rest.withUnsafeBytes { if !$0.isEmpty { session.received($0, on: connection) } }
        }
    }

    package func writable(_ connection: any RawConnection) {
        if let session { session.writable(connection) } else { sendRequest(on: connection) }
    }

    package func woken(_ connection: any RawConnection) { session?.woken(connection) }

    package func closed(_ connection: any RawConnection, error: TransportError?) {
        if let session { return session.closed(connection, error: error) }
        finish(.failure(error ?? handshake.end()))
    }

    private func sendRequest(on connection: any RawConnection) {
        let count = unsent.withUnsafeBytes { $0.isEmpty ? 0 : connection.send($0) }
        unsent = unsent.dropFirst(count)
    }
}

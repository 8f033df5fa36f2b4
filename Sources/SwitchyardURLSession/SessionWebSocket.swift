#if !canImport(FoundationNetworking)
    import Foundation
    import SwitchyardWire
    import Synchronization

    /// `URLSessionWebSocketTask` as a ``WebSocketConnection``. The system handles frames, masking and pongs.
    final class SessionWebSocket: WebSocketConnection {
        let head: HTTPResponseHead
        let subprotocol: String?
        private let task: URLSessionWebSocketTask

        private init(_ task: URLSessionWebSocketTask, head: HTTPResponseHead) {
            self.task = task
            self.head = head
            subprotocol = head.headers["Sec-WebSocket-Protocol"]
        }

        static func open(
            _ request: WebSocketRequest, session: URLSession, delegate: SessionDelegate
        ) async throws(TransportError) -> SessionWebSocket {
            guard let url = URL(string: request.url) else {
                throw TransportError(.invalidRequest, "the address cannot be used")
            }
            var upgrade = URLRequest(url: url)
            for field in request.headers { upgrade.addValue(field.value, forHTTPHeaderField: field.name) }
            if !request.subprotocols.isEmpty {
                upgrade.setValue(
                    request.subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
            }
            let task = session.webSocketTask(with: upgrade)
            task.maximumMessageSize = request.maximumMessageSize
            task.resume()
            // A pong proves that the upgrade is complete.
            let failure = await ping(task)
            let answer = task.response as? HTTPURLResponse
            var headers = HTTPHeaders()
            for (name, value) in answer?.allHeaderFields ?? [:] {
                if let name = name as? String, let value = value as? String { headers.add(name, value) }
            }
            let head = HTTPResponseHead(status: answer?.statusCode ?? 0, headers: headers, url: request.url)
            guard let failure else { return SessionWebSocket(task, head: head) }
            task.cancel()
            guard head.status != 0, head.status != 101 else { throw failure }
            throw TransportError(
                .webSocketRefused, "the server answered \(head.status)", mayHaveBeenSent: true,
                response: HTTPResponse(head: head))
        }

        var closed: WebSocketClose? {
            guard task.closeCode != .invalid else { return nil }
            let reason = String(decoding: task.closeReason ?? Data(), as: UTF8.self)
            return WebSocketClose(code: UInt16(clamping: task.closeCode.rawValue), reason: reason)
        }

        func send(_ message: WebSocketMessage) async throws(TransportError) {
            do {
                switch message {
                case .text(let text): try await task.send(.string(text))
                case .binary(let bytes): try await task.send(.data(Data(bytes)))
                }
            } catch {
                throw SessionErrors.error(error, isIdempotent: false)
            }
        }

        func receive() async throws(TransportError) -> WebSocketMessage? {
            do {
                switch try await task.receive() {
                case .string(let text): return .text(text)
                case .data(let data): return .binary(Array(data))
                @unknown default: throw TransportError(.webSocketProtocol, "a message of an unknown kind")
                }
            } catch let error as TransportError {
                throw error
            } catch {
                if closed != nil { return nil }
                throw SessionErrors.error(error, isIdempotent: false)
            }
        }

        func ping() async throws(TransportError) {
            if let failure = await Self.ping(task) { throw failure }
        }

        func close(_ close: WebSocketClose) async {
            task.cancel(
                with: URLSessionWebSocketTask.CloseCode(rawValue: Int(close.code)) ?? .normalClosure,
                reason: Data(close.reason.utf8))
        }

        deinit {
            task.cancel()
        }

        private static func ping(_ task: URLSessionWebSocketTask) async -> TransportError? {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    task.sendPing { error in
                        continuation.resume(returning: error.map { SessionErrors.error($0, isIdempotent: false) })
                    }
                }
            } onCancel: {
                task.cancel()
            }
        }
    }
#endif

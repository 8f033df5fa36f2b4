import Foundation
import SwitchyardWire

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
    /// - Parameter close: What to tell the peer; `nil` to end at once.
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

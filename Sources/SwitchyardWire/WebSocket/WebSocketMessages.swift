/// The messages of a web socket as a sequence, for one reader. It ends when the peer closes normally.
package struct WebSocketMessages: AsyncSequence, Sendable {
    package typealias Element = WebSocketMessage
    package typealias Failure = TransportError

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let connection: any WebSocketConnection

        package mutating func next() async throws(TransportError) -> WebSocketMessage? {
            try await connection.receive()
        }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(TransportError) -> WebSocketMessage? {
            try await connection.receive()
        }
    }

    fileprivate let connection: any WebSocketConnection

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection) }
}

extension WebSocketConnection {
    package var messages: WebSocketMessages { WebSocketMessages(connection: self) }
}

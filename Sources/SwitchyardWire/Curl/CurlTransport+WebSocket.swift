#if os(Linux)
    extension CurlTransport {
        package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
            throw TransportError(.unsupported, "web sockets are not part of this transport")
        }
    }
#endif

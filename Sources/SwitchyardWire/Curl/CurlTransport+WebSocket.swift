#if os(Linux)
    extension CurlTransport {
        package func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
            try await WebSocketOpening.open(request, over: self)
        }
    }
#endif

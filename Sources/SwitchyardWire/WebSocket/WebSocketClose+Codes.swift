extension WebSocketClose {
    package static let protocolError = WebSocketClose(code: 1002)
    package static let unsupportedData = WebSocketClose(code: 1003)
    package static let invalidPayload = WebSocketClose(code: 1007)
    package static let policyViolation = WebSocketClose(code: 1008)
    package static let messageTooBig = WebSocketClose(code: 1009)
    package static let internalError = WebSocketClose(code: 1011)

    /// Represents a close frame without a code; never sent.
    package static let noCode = WebSocketClose(code: 1005)

    /// Whether the code may be sent: the codes defined by the protocol and its registry, and the ranges for libraries (3000)
    /// and applications (4000). The codes that only represent "none" or "cut off" may not.
    package var mayBeSent: Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

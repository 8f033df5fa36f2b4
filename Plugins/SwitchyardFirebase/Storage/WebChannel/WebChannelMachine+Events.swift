import SwitchyardBytes

/// What a channel's machine is told, and what it wants done.
extension WebChannelMachine {
    enum Event {
        /// A message for the server, as JSON text.
        case send([UInt8])
        case handshakeAnswered(status: Int, stickySession: String?, body: [UInt8])
        case handshakeFailed(String)
        case forwardAnswered(status: Int, body: [UInt8])
        case forwardFailed(String)
        /// Nothing came in answer to a POST for as long as anybody waits.
        case forwardUnanswered
        case backChannelOpened(status: Int)
        case backChannelBytes([UInt8])
        /// The GET came to its regular end.
        case backChannelEnded
        case backChannelFailed(String)
        case timer(Timer)
        case terminate
    }

    enum Action: Equatable {
        case handshake(query: [Parameter], body: [UInt8])
        case forward(query: [Parameter], body: [UInt8])
        case openBackChannel(query: [Parameter])
        case cancelBackChannel
        /// Best effort; nobody waits for it.
        case terminate(query: [Parameter])
        case deliver(JSON)
        case schedule(Timer, after: Duration)
        case cancel(Timer)
        /// The last action of a session.
        case close(WebChannelClose)
    }

    struct Parameter: Equatable {
        let name: String
        let value: String
        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    enum Timer: Hashable {
        /// Nothing has come on the back channel for too long: it may be dead without anybody saying so.
        case silence
        /// The back channel is so old that the server must know of it.
        case settling
        /// The server says that it sent more than has arrived.
        case overdue
        case retryForward
        case retryBackChannel
    }
}

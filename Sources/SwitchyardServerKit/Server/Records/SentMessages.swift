import SwitchyardBytes
import Synchronization

/// What a local server would have sent to people: the last of it, and whoever is told of more.
package final class SentMessages: Sendable {
    package enum Kind: String, Sendable, Codable { case mail, sms, push }

    package struct Message: Sendable, Codable {
        /// From 1; given when it is added.
        package internal(set) var number = 0
        /// In milliseconds since 1970.
        package let at: Int64
        package let kind: Kind
        /// An address, a number, or the target of a push message.
        package let to: String
        package let subject: String
        package let text: String
        package var links: [String] = []
        package var code: String?
        /// The devices that received a push message.
        package var receivers: [String] = []
        /// The way to them: `push` or `realtime`.
        package var how = "push"
        /// The data of a push message, as JSON text.
        package var data: String?

        package init(at: Int64, kind: Kind, to: String, subject: String, text: String) {
            self.at = at
            self.kind = kind
            self.to = to
            self.subject = subject
            self.text = text
        }
    }

    private struct State {
        var messages: [Message] = []
        var last = 0
        var listener: (@Sendable (Message) -> Void)?
    }

    private static let capacity = 500

    private let state = Mutex(State())

    package init() {}

    /// Oldest first.
    package var all: [Message] { state.withLock { $0.messages } }

    package func add(_ message: Message) {
        let (added, listener) = state.withLock { state in
            state.last += 1
            var message = message
            message.number = state.last
            state.messages.append(message)
            if state.messages.count > Self.capacity { state.messages.removeFirst() }
            return (message, state.listener)
        }
        listener?(added)
    }

    /// - Parameter listener: Called for each message from now on, on any thread; must not wait. `nil` for no one.
    package func tell(_ listener: (@Sendable (Message) -> Void)?) { state.withLock { $0.listener = listener } }

    package func removeAll() { state.withLock { $0.messages = [] } }
}

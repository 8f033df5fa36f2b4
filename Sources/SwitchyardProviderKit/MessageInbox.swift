package import Switchyard
import SwitchyardBytes
import Synchronization

/// The streams of a messaging client: each message once, token changes, all in order.
///
/// Messages that arrive without a listener wait for the first one: the newest ``capacity`` of them, and only as long as the
/// user stays the same.
package final class MessageInbox: Sendable {
    package typealias Messages = EventStream<RemoteMessage, MessagingError>.Continuation
    package typealias Tokens = SnapshotStream<MessagingToken?, MessagingError>.Continuation

    private struct State {
        var token: MessagingToken?
        /// Messages that arrived without a listener, oldest first.
        var undelivered: [RemoteMessage] = []
        /// The user of those messages; `nil` if no user was signed in.
        var user: AuthUser.ID?
        /// Whether the user is known; earlier messages go to the user who turns out to be signed in.
        var knowsUser = false
        /// The newest IDs, to recognise duplicates from the platform.
        var seen: Set<String> = []
        var order: [String] = []
        var isShutDown = false

        mutating func isNew(_ id: String) -> Bool {
            guard seen.insert(id).inserted else { return false }
            order.append(id)
            if order.count > 2 * MessageInbox.memory {
                for id in order.prefix(MessageInbox.memory) { seen.remove(id) }
                order.removeFirst(MessageInbox.memory)
            }
            return true
        }
    }
    private let box = Mutex(State())
    private let messages = Broadcast<Messages>()
    private let tokens = Broadcast<Tokens>()
    private let subscription = Mutex<SessionSubscription?>(nil)
    private static let memory = 1000
    /// How many messages wait for a listener.
    package static let capacity = 100

    /// - Parameter session: Reports when another user signs in, who must not get the previous user's messages.
    package init(following session: SessionFeed? = nil) {
        guard let session else { return }
        subscription.withLock { subscription in
            subscription = session.subscribe { [weak self] change in
                if case .state(let state) = change { self?.use(state.user?.id) }
            }
        }
    }

    private func use(_ user: AuthUser.ID?) {
        box.withLock { box in
            if box.knowsUser, box.user != user { box.undelivered = [] }
            box.knowsUser = true
            box.user = user
        }
    }

    package var isShutDown: Bool { box.withLock { $0.isShutDown } }
    /// The number of messages that wait for a listener, and their user.
    package var undelivered: (count: Int, user: AuthUser.ID?) { box.withLock { ($0.undelivered.count, $0.user) } }
    /// The signed-in user as far as known; `nil` for no one.
    package var user: AuthUser.ID? { box.withLock { $0.user } }
    package var listenerCount: Int { messages.count + tokens.count }

    package func checkOpen() throws(MessagingError) { if isShutDown { throw Self.over } }

    /// - Returns: Whether it was accepted; `false` once the client is shut down.
    @discardableResult
    package func take(_ message: RemoteMessage) -> Bool {
        let isTaken = box.withLock { box in
            guard !box.isShutDown else { return false }
            guard box.isNew(message.id) else { return true }
            if messages.isEmpty {
                box.undelivered.append(message)
                if box.undelivered.count > Self.capacity { box.undelivered.removeFirst() }
            } else {
                messages.queue { $0.yield(message) }
            }
            return true
        }
        messages.deliver()
        return isTaken
    }

    /// Ignores a message from now on, also if it arrives again.
    package func know(_ id: RemoteMessage.ID) { box.withLock { _ = $0.isNew(id) } }

    package func tell(_ token: MessagingToken?) {
        box.withLock { box in
            guard token != box.token else { return }
            box.token = token
            tokens.queue { $0.yield(token) }
        }
        tokens.deliver()
    }

    package func listen(messages listener: Messages) -> @Sendable () -> Void {
        defer { messages.deliver() }
        return box.withLock { box in
            defer { box.undelivered = [] }
            return messages.add(listener) { [undelivered = box.undelivered] in
                for message in undelivered { $0.yield(message) }
            }
        }
    }

    package func listen(tokens listener: Tokens) -> @Sendable () -> Void {
        defer { tokens.deliver() }
        return box.withLock { box in tokens.add(listener) { [token = box.token] in $0.yield(token) } }
    }

    package func shutDown() {
        box.withLock { box in
            box.isShutDown = true
            box.undelivered = []
        }
        messages.close { $0.finish(throwing: Self.over) }
        tokens.close { $0.finish(throwing: Self.over) }
        messages.deliver()
        tokens.deliver()
        subscription.withLock { $0?.stop() }
    }

    private static let over = MessagingError(.shutDown, "The client was shut down.")
}

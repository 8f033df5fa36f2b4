import SwitchyardBytes
import Synchronization

/// The streams of a messaging client: each message once, the token as it changes, all in order.
///
/// Messages that arrive while nobody listens wait for the first who does: the newest ``capacity`` of them, and only as long
/// as the user stays the same.
package final class MessagingHub: Sendable {
    package typealias Messages = EventStream<RemoteMessage, MessagingError>.Continuation
    package typealias Tokens = SnapshotStream<MessagingToken?, MessagingError>.Continuation

    private struct State {
        var messages: [Int: Messages] = [:]
        var tokens: [Int: Tokens] = [:]
        var token: MessagingToken?
        var lastListener = 0
        /// What arrived while nobody listened, oldest first.
        var unheard: [RemoteMessage] = []
        /// Whose messages those are; `nil` for nobody's.
        var user: AuthUser.ID?
        /// Whether that was told: what came before is for whoever turns out to be there.
        var knowsUser = false
        /// The newest names, to know again what a platform delivers twice.
        var seen: Set<String> = []
        var order: [String] = []
        var isShutDown = false
    }
    private let box = Mutex(State())
    private let deliveries = DeliveryQueue()
    private let follower = TaskBox()
    private static let memory = 1000
    /// How many messages wait for a listener.
    package static let capacity = 100

    /// - Parameter auth: Says when somebody else uses the device, who is not to get messages of the one before.
    package init(following auth: (any AuthClient)? = nil) {
        guard let states = auth?.authStateStream() else { return }
        follower.replace(
            with: Task { [weak self] in
                for await state in states {
                    guard let self else { return }
                    self.use(state)
                }
            })
    }

    deinit { follower.cancel() }

    private func use(_ state: AuthState) {
        switch state {
        // Nothing is known of who it is; most likely the same as before.
        case .unknown, .locked: return
        case .signedOut, .signedIn, .expired: break
        }
        box.withLock { box in
            if box.knowsUser, box.user != state.user?.id { box.unheard = [] }
            box.knowsUser = true
            box.user = state.user?.id
        }
    }

    package var isShutDown: Bool { box.withLock { $0.isShutDown } }
    /// How many messages wait for a listener, and whose they are.
    package var unheard: (count: Int, user: AuthUser.ID?) { box.withLock { ($0.unheard.count, $0.user) } }
    package var listenerCount: Int { box.withLock { $0.messages.count + $0.tokens.count } }

    package func checkOpen() throws(MessagingError) { if isShutDown { throw Self.over } }

    /// - Returns: Whether it was taken; `false` once the client is shut down.
    @discardableResult
    package func take(_ message: RemoteMessage) -> Bool {
        let isTaken = box.withLock { box in
            guard !box.isShutDown else { return false }
            guard box.seen.insert(message.id).inserted else { return true }
            box.order.append(message.id)
            if box.order.count > 2 * Self.memory {
                for id in box.order.prefix(Self.memory) { box.seen.remove(id) }
                box.order.removeFirst(Self.memory)
            }
            if box.messages.isEmpty {
                box.unheard.append(message)
                if box.unheard.count > Self.capacity { box.unheard.removeFirst() }
            } else {
                deliveries.add(box.messages.values.map { listener in { listener.yield(message) } })
            }
            return true
        }
        deliveries.drain()
        return isTaken
    }

    package func tell(_ token: MessagingToken?) {
        box.withLock { box in
            guard token != box.token else { return }
            box.token = token
            deliveries.add(box.tokens.values.map { listener in { listener.yield(token) } })
        }
        deliveries.drain()
    }

    package func listen(messages listener: Messages) -> @Sendable () -> Void {
        let id = box.withLock { box -> Int? in
            guard !box.isShutDown else {
                deliveries.add([{ listener.finish(throwing: Self.over) }])
                return nil
            }
            box.lastListener += 1
            box.messages[box.lastListener] = listener
            deliveries.add(box.unheard.map { message in { listener.yield(message) } })
            box.unheard = []
            return box.lastListener
        }
        deliveries.drain()
        return { [weak self] in if let id { self?.box.withLock { _ = $0.messages.removeValue(forKey: id) } } }
    }

    package func listen(tokens listener: Tokens) -> @Sendable () -> Void {
        let id = box.withLock { box -> Int? in
            guard !box.isShutDown else {
                deliveries.add([{ listener.finish(throwing: Self.over) }])
                return nil
            }
            box.lastListener += 1
            box.tokens[box.lastListener] = listener
            let token = box.token
            deliveries.add([{ listener.yield(token) }])
            return box.lastListener
        }
        deliveries.drain()
        return { [weak self] in if let id { self?.box.withLock { _ = $0.tokens.removeValue(forKey: id) } } }
    }

    package func shutDown() {
        box.withLock { box in
            box.isShutDown = true
            deliveries.add(box.messages.values.map { listener in { listener.finish(throwing: Self.over) } })
            deliveries.add(box.tokens.values.map { listener in { listener.finish(throwing: Self.over) } })
            box.messages = [:]
            box.tokens = [:]
            box.unheard = []
        }
        deliveries.drain()
        follower.cancel()
    }

    private static let over = MessagingError(.shutDown, "The client was shut down.")
}

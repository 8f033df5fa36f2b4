import SwitchyardBytes
import Synchronization

/// The streams of a messaging client: each message once, the token as it changes, all in order.
package final class MessagingHub: Sendable {
    package typealias Messages = EventStream<RemoteMessage, MessagingError>.Continuation
    package typealias Tokens = SnapshotStream<MessagingToken?, MessagingError>.Continuation

    private struct State {
        var messages: [Int: Messages] = [:]
        var tokens: [Int: Tokens] = [:]
        var token: MessagingToken?
        var lastListener = 0
        /// What arrived while nobody listened.
        var unheard: [RemoteMessage] = []
        /// The newest names, to know again what a platform delivers twice.
        var seen: Set<String> = []
        var order: [String] = []
        var isShutDown = false
    }
    private let box = Mutex(State())
    private let deliveries = DeliveryQueue()
    private static let memory = 1000

    package init() {}

    package func checkOpen() throws(MessagingError) {
        if box.withLock({ $0.isShutDown }) { throw MessagingError(.shutDown, "The client was shut down.") }
    }

    package func take(_ message: RemoteMessage) {
        box.withLock { box in
            guard box.seen.insert(message.id).inserted else { return }
            box.order.append(message.id)
            if box.order.count > 2 * Self.memory {
                for id in box.order.prefix(Self.memory) { box.seen.remove(id) }
                box.order.removeFirst(Self.memory)
            }
            if box.messages.isEmpty {
                box.unheard.append(message)
            } else {
                deliveries.add(box.messages.values.map { listener in { listener.yield(message) } })
            }
        }
        deliveries.drain()
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
        }
        deliveries.drain()
    }

    private static let over = MessagingError(.shutDown, "The client was shut down.")
}

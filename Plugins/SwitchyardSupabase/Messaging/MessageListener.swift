import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// Reads one channel and hands its messages to the hub, until it is let go or the server says that the channel can never be.
final class MessageListener: Sendable {
    /// How the channel was joined for the first time, or why it was not.
    private let outcome = Promise<Result<Void, MessagingError>>()
    private let channel: RealtimeChannel
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter ended: Called once the channel can never be, while the listener is held.
    init(
        _ channel: RealtimeChannel, topic: MessagingTopic?, hub: MessagingHub,
        ended: @escaping @Sendable (MessageListener) async -> Void
    ) {
        self.channel = channel
        let reading = Task { [weak self] in
            // Whoever heard the channel when it was joined last; empty before.
            var listener: [AuthUser.ID?] = []
            var isNew = true
            do throws(RealtimeFailure) {
                while let event = try await channel.next() {
                    switch event {
                    // What the database sends may come a little later; what servers send comes now.
                    case .joined:
                        // What was sent before this user listened is not theirs to hear; it is only known again.
                        let user = hub.user
                        isNew = listener != [user]
                        listener = [user]
                        self?.outcome.resolve(.success(()))
                    case .confirmed: self?.outcome.resolve(.success(()))
                    case .broadcast(let broadcast):
                        guard broadcast.event == MessageChannel.event, case .json(let json) = broadcast.content,
                            let message = RemoteMessage(supabase: json, fallbackID: broadcast.id, topic: topic)
                        else { break }
                        if broadcast.isReplayed, isNew { hub.know(message.id) } else { hub.take(message) }
                    case .unconfirmed, .interrupted, .overflowed, .change: break
                    }
                }
                self?.outcome.resolve(.failure(MessagingError(.shutDown, "The client was shut down.")))
            } catch {
                guard let self else { return }
                outcome.resolve(.failure(MessagingError(error)))
                await ended(self)
            }
        }
        task.withLock { $0 = reading }
    }

    deinit { leave() }

    /// Whether nothing will come any more; known before it is told.
    var isOver: Bool { channel.isOver }

    /// Leaves the channel: nothing more comes of it.
    func leave() {
        channel.leave()
        task.withLock { $0 }?.cancel()
        outcome.resolve(.failure(MessagingError(.cancelled, "The channel was left.")))
    }

    /// Waits until the channel is joined for the first time.
    func joined() async throws(MessagingError) {
        guard let result = await outcome.value else { throw MessagingError(.cancelled, "The call was cancelled.") }
        try result.get()
    }
}

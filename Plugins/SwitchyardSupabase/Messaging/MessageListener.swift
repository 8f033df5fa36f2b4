import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// Reads one channel and passes its messages to the hub, until it is released or the channel ends for good.
final class MessageListener: Sendable {
    /// The result of the first join.
    private let outcome = Promise<Result<Void, MessagingError>>()
    private let channel: RealtimeChannel
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter ended: Called once the channel has ended for good, if the listener still exists.
    init(
        _ channel: RealtimeChannel, of name: MessageChannel, hub: MessageInbox, missed: MissedMessages,
        ended: @escaping @Sendable (MessageListener) async -> Void
    ) {
        self.channel = channel
        let reading = Task { [weak self] in
            // The user at the last join; empty before the first one.
            var listener: [AuthUser.ID?] = []
            var isNew = true
            do throws(RealtimeFailure) {
                while let event = try await channel.next() {
                    switch event {
                    // Messages from the database may start a little later; those from servers start now.
                    case .joined:
                        // Messages sent before this user joined are not delivered, only remembered as known.
                        let user = hub.user
                        isNew = listener != [user]
                        listener = [user]
                        self?.outcome.resolve(.success(()))
                    case .confirmed:
                        self?.outcome.resolve(.success(()))
                        // Messages sent since the join may be in neither. Messages that arrive do not wait for this.
                        Task { await missed.check() }
                    case .broadcast(let broadcast):
                        guard broadcast.event == MessageChannel.event, case .json(let json) = broadcast.content,
                            let message = RemoteMessage(supabase: json, fallbackID: broadcast.id, topic: name.topic)
                        else { break }
                        if broadcast.isReplayed, isNew { hub.know(message.id) } else { hub.take(message) }
                        if let number = json["number"]?.int64 { await missed.arrived(number, on: name) }
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

    /// Whether nothing more will arrive; set before the reader gets the end.
    var isOver: Bool { channel.isOver }

    /// Leaves the channel, so that nothing more arrives.
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

import Switchyard
import SwitchyardBytes
import Synchronization

/// Reads one channel and hands its messages to the hub, until it is let go or the server says that the channel can never be.
final class MessageListener: Sendable {
    private enum State {
        case waiting([Int: CheckedContinuation<Result<Void, MessagingError>, Never>])
        case over(Result<Void, MessagingError>)
    }

    private let state = Mutex((State.waiting([:]), lastID: 0))
    private let channel: RealtimeChannel
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter ended: Called once the channel can never be.
    init(
        _ channel: RealtimeChannel, topic: MessagingTopic?, hub: MessagingHub,
        ended: @escaping @Sendable () async -> Void
    ) {
        self.channel = channel
        let reading = Task { [weak self] in
            do throws(RealtimeFailure) {
                while let event = try await channel.next() {
                    switch event {
                    // What the database sends may come a little later; what servers send comes now.
                    case .joined, .confirmed: self?.resolve(.success(()))
                    case .broadcast(let broadcast):
                        guard broadcast.event == MessageChannel.event, case .json(let json) = broadcast.content,
                            let message = RemoteMessage(supabase: json, fallbackID: broadcast.id, topic: topic)
                        else { break }
                        hub.take(message)
                    case .unconfirmed, .interrupted, .overflowed, .change: break
                    }
                }
                self?.resolve(.failure(MessagingError(.shutDown, "The client was shut down.")))
            } catch {
                self?.resolve(.failure(MessagingError(error)))
                await ended()
            }
        }
        task.withLock { $0 = reading }
    }

    deinit { leave() }

    /// Leaves the channel: nothing more comes of it.
    func leave() {
        channel.leave()
        task.withLock { $0 }?.cancel()
        resolve(.failure(MessagingError(.cancelled, "The channel was left.")))
    }

    /// Waits until the channel is joined for the first time.
    func joined() async throws(MessagingError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = Task.isCancelled
                let result = state.withLock { state -> Result<Void, MessagingError>? in
                    switch state.0 {
                    case .over(let result): return result
                    case .waiting(var waiters):
                        if isCancelled { return .failure(Self.cancelled) }
                        waiters[id] = continuation
                        state.0 = .waiting(waiters)
                        return nil
                    }
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Result<Void, MessagingError>, Never>? in
                guard case .waiting(var waiters) = state.0 else { return nil }
                defer { state.0 = .waiting(waiters) }
                return waiters.removeValue(forKey: id)
            }
            waiter?.resume(returning: .failure(Self.cancelled))
        }.get()
    }

    private static let cancelled = MessagingError(.cancelled, "The call was cancelled.")

    /// Only the first outcome counts.
    private func resolve(_ result: Result<Void, MessagingError>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Result<Void, MessagingError>, Never>] in
            guard case .waiting(let waiters) = state.0 else { return [] }
            state.0 = .over(result)
            return Array(waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }
}

/// Tells an observer how many writes wait in a storage, whenever that changes, for as long as this value lives.
final class QueueWatch: Sendable {
    private let following: Task<Void, Never>

    /// - Returns: `nil` if there is no queue or no observer.
    init?(_ storage: any StorageClient, _ observer: any InfrastructureObserver) {
        guard storage.capabilities.offline, !(observer is SilentObserver) else { return nil }
        following = Task {
            var last = 0
            while !Task.isCancelled {
                do throws(StorageError) {
                    for try await pending in storage.pendingWrites() where pending.count != last {
                        last = pending.count
                        observer.observe(
                            InfrastructureEvent(
                                service: .storage, provider: storage.provider,
                                kind: .pendingWrites(count: last, failure: nil)))
                    }
                    return
                } catch {
                    // A queue that was thrown away is followed by a new one; anything else is the end.
                    guard error.code == .cancelled else { return }
                }
            }
        }
    }

    deinit { following.cancel() }
}

/// Reports the number of pending writes of a storage to an observer, whenever it changes, for as long as this object lives.
final class PendingWriteReporter: Sendable {
    private let following: Task<Void, Never>

    /// - Returns: `nil` if there is no queue or no observer.
    init?(_ storage: any StorageClient, _ observer: any InfrastructureObserver) {
        guard storage.capabilities.offline, ObserverRelay.of(observer)?.isObserved == true else { return nil }
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
                    // A discarded queue is followed by a new one; any other error ends the watch.
                    guard error.code == .cancelled else { return }
                }
            }
        }
    }

    deinit { following.cancel() }
}

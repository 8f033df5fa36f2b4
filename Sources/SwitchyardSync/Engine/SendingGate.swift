import Switchyard
import Synchronization

/// Lets commits of one writer generation begin. Each asks immediately before it begins, so that none begins once the writer is
/// closed: after `disableNetwork()` has returned, or for another user.
final class SendingGate: Sendable {
    /// The underlying error of a commit that did not begin.
    struct IsClosed: Error {}

    private let generation = Mutex(0)

    func open(for generation: Int) { self.generation.withLock { $0 = generation } }

    func pass(_ generation: Int) throws(StorageError) {
        guard self.generation.withLock({ $0 == generation }) else {
            throw StorageError(
                .cancelled, "Sending the batch was cancelled before it began. It stays queued.", underlying: IsClosed())
        }
    }
}

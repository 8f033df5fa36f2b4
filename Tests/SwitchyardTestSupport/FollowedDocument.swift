package import Switchyard
import Synchronization

/// A document with a number in its field `n`, as a stream shows it.
package final class FollowedDocument: Sendable {
    private let state = Mutex<(number: Int64?, failure: StorageError?)>((nil, nil))
    private let task = Mutex<Task<Void, Never>?>(nil)

    package init(_ path: StoragePath, on client: any StorageClient) {
        let stream = client.snapshots(of: path)
        let reading = Task { [weak self] in
            do throws(StorageError) {
                for try await snapshot in stream { self?.show(snapshot["n"]?.integerValue) }
            } catch {
                self?.fail(error)
            }
        }
        task.withLock { $0 = reading }
    }

    deinit { leave() }

    package var number: Int64? { state.withLock { $0.number } }
    /// Why the stream has ended.
    package var failure: StorageError? { state.withLock { $0.failure } }

    /// Ends the stream.
    package func leave() { task.withLock { $0 }?.cancel() }

    private func show(_ number: Int64?) { state.withLock { $0.number = number } }
    private func fail(_ error: StorageError) { state.withLock { $0.failure = error } }
}

package import Switchyard
import Synchronization

extension StorageClient {
    /// Why a live query is not up to date, as its snapshots say within ten seconds, once `log` has received the same.
    package func trouble(of query: Query, observedBy log: EventLog) async throws -> StorageError? {
        let shown = Mutex<StorageError?>(nil)
        let stream = snapshots(of: query, options: ListenOptions(includesMetadataChanges: true))
        let following = Task {
            for try await snapshot in stream {
                if let error = snapshot.metadata.serverError { shown.withLock { $0 = error } }
            }
        }
        defer { following.cancel() }
        try await eventually("a live query says why", within: .seconds(10)) { shown.withLock { $0 != nil } }
        let error = shown.withLock { $0 }
        try await eventually("an observer is notified", within: .seconds(10)) {
            log.kinds.contains {
                if case .reconnect(_, _, let failure?) = $0 { failure.code == error?.code } else { false }
            }
        }
        return error
    }
}

import Switchyard
import SwitchyardBytes
import Synchronization

/// The documents of a query, as a client sees them now.
final class FollowedTexts: Sendable {
    private let state = Mutex((paths: [String](), isCurrent: false))
    private let task = TaskBox()

    init(_ snapshots: SnapshotStream<QuerySnapshot, StorageError>) {
        task.replace(
            with: Task { [weak self] in
                do {
                    for try await snapshot in snapshots {
                        let paths = snapshot.documents.map(\.path.rawValue)
                        self?.state.withLock { $0 = (paths, !snapshot.metadata.isFromCache) }
                    }
                } catch {}
            })
    }

    var paths: [String] { state.withLock { $0.paths } }
    var isCurrent: Bool { state.withLock { $0.isCurrent } }

    func stop() { task.cancel() }
}

import Switchyard
import Synchronization

@testable import SwitchyardSync

extension SyncEngine {
    var unrest: [String] {
        guard let openMachine else { return ["no machine"] }
        return openMachine.unrest + ["online: \(openMachine.onlineState), watch: \(openMachine.watch)"]
    }
}

/// Somebody who looks at the newest state of a query.
final class Viewer: Sendable {
    let query: Query
    private let newest = Mutex<QuerySnapshot?>(nil)
    /// Whether the changes of a snapshot did not lead from the one before to its documents.
    private let isWrong = Mutex(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ client: SyncedStorageClient, _ query: Query) {
        self.query = query
        var options = ListenOptions()
        options.includesMetadataChanges = true
        let stream = client.snapshots(of: query, options: options)
        let watching = Task { [weak self] in
            do {
                var paths: [StoragePath] = []
                for try await snapshot in stream {
                    paths = snapshot.changes(appliedTo: paths)
                    let isWrong = paths != snapshot.documents.map(\.path)
                    if isWrong { self?.isWrong.withLock { $0 = true } }
                    self?.newest.withLock { $0 = snapshot }
                }
            } catch {}
        }
        task.withLock { $0 = watching }
    }

    func leave() { task.withLock { $0 }?.cancel() }

    var hasSeenWrongChanges: Bool { isWrong.withLock { $0 } }

    var state: String {
        newest.withLock { newest in
            let documents = newest?.documents.map { document in
                "\(document.path) \((document.data ?? [:]).map { "\($0.name)=\($0.value)" })"
            }
            return "\(query) shows \(newest.map { "\($0.metadata)" } ?? "nothing"): \(documents ?? [])"
        }
    }

    func shows(_ documents: [DocumentSnapshot]) -> Bool {
        newest.withLock { newest in
            guard let newest, !newest.metadata.isFromCache, !newest.metadata.hasPendingWrites else { return false }
            return newest.documents.elementsEqual(documents) { $0.path == $1.path && $0.data == $1.data }
        }
    }
}

extension QuerySnapshot {
    fileprivate func changes(appliedTo paths: [StoragePath]) -> [StoragePath] {
        var paths = paths
        for change in changes {
            if let index = change.oldIndex {
                guard paths.indices.contains(index), paths[index] == change.document.path else { return [] }
                paths.remove(at: index)
            }
            if let index = change.newIndex {
                guard index <= paths.count else { return [] }
                paths.insert(change.document.path, at: index)
            }
        }
        return paths
    }
}

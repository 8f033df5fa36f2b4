import Switchyard
import Testing

/// A list maintained by following the changes of snapshots alone, as a table on a screen does.
struct FollowedList {
    private(set) var documents: [DocumentSnapshot] = []
    private var paths: Set<StoragePath> = []

    /// Carries out the snapshot's changes; what comes out must be its documents, nothing missed and nothing doubled.
    mutating func follow(_ snapshot: QuerySnapshot) {
        for change in snapshot.changes {
            if let index = change.oldIndex {
                guard documents.indices.contains(index), documents[index].path == change.document.path else {
                    Issue.record("a change takes away \(change.document.path), which is not at \(index)")
                    return
                }
                documents.remove(at: index)
                paths.remove(change.document.path)
            }
            if let index = change.newIndex {
                guard index <= documents.count, paths.insert(change.document.path).inserted else {
                    Issue.record("a change adds \(change.document.path) twice, or behind the end")
                    return
                }
                documents.insert(change.document, at: index)
            }
        }
        #expect(documents.map(\.path) == snapshot.documents.map(\.path))
        #expect(documents.map(\.data) == snapshot.documents.map(\.data))
    }
}

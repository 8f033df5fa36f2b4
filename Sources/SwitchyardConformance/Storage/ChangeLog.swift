import Switchyard

/// A list kept by following the changes of snapshots, as a table on a screen does.
struct ChangeLog {
    private(set) var documents: [DocumentSnapshot] = []

    /// Applies the snapshot's changes, and expects the result to equal its documents.
    mutating func follow(_ snapshot: QuerySnapshot, file: String = #fileID, line: Int = #line) throws {
        for change in snapshot.changes {
            if let index = change.oldIndex {
                try expect(
                    documents.indices.contains(index) && documents[index].path == change.document.path,
                    "a change's old index is the place of its document", found: "\(index) of \(documents.map(\.id))",
                    file: file, line: line)
                documents.remove(at: index)
            }
            if let index = change.newIndex {
                try expect(
                    index >= 0 && index <= documents.count, "a change's new index is a place in the list",
                    found: "\(index) of \(documents.count)", file: file, line: line)
                documents.insert(change.document, at: index)
            }
            try expect(
                (change.oldIndex == nil) == (change.kind == .added)
                    && (change.newIndex == nil) == (change.kind == .removed),
                "added documents have no old index, removed ones no new one, all others both",
                found: "\(change.kind) from \(Readable.text(change.oldIndex)) to \(Readable.text(change.newIndex))",
                file: file, line: line)
        }
        try expectEqual(
            documents.map { Entry($0) }, snapshot.documents.map { Entry($0) }, "the list that follows the changes",
            file: file,
            line: line)
    }

    private struct Entry: Equatable, CustomStringConvertible {
        let path: StoragePath
        let data: DocumentData?
        init(_ document: DocumentSnapshot) {
            path = document.path
            data = document.data
        }
        var description: String { "\(path.id) \(Readable.text(data))" }
    }
}

import Switchyard

@testable import SwitchyardSync

/// What a server of tables says to a machine: tags, returned rows, and results in its own order.
extension TestBench {
    /// Rows of one target, then all of its results.
    ///
    /// - Parameter rows: Those that changed. Their tags are their contents.
    func tell(
        _ target: Int, _ rows: [(StoragePath, DocumentData)], results: [StoragePath], at version: Int64,
        isFirst: Bool = false
    ) {
        let time = Timestamp(microseconds: version)
        if isFirst { feed(.watched(.added([target]))) }
        for (path, data) in rows {
            feed(.watched(.changed(.existing(path, data, updateTime: time), targets: [target], tag: .of(data))))
        }
        feed(.watched(.results(target: target, results)))
        if isFirst { feed(.watched(.current([target]))) }
        feed(.watched(.snapshot(version: time)))
    }

    func write(_ writes: DocumentWrite..., at version: Int64 = 1) {
        feed(.write(1000 + Int(version), writes, at: Timestamp(microseconds: version)))
    }

    /// The server carried out the next batch, and returned its rows; `nil` for one that is gone.
    func acknowledge(_ rows: [(StoragePath, DocumentData?)], at version: Int64) {
        let outcomes = rows.map { path, data in
            WriteOutcome.returned(data.map { .existing(path, $0) } ?? .missing(path), tag: data.map { .of($0) })
        }
        feed(.committed(CommitResult(commitTime: Timestamp(microseconds: version), outcomes: outcomes)))
    }

    /// The paths that the last snapshot shows, without their collection.
    var shown: [String] { snapshots.last?.documents.map(\.id) ?? [] }

    /// The first snapshot whose changes, carried out on the list before, do not give its documents.
    var wrongChanges: ViewSnapshot? {
        var paths: [StoragePath] = []
        for snapshot in snapshots {
            for change in snapshot.changes {
                if let index = change.oldIndex {
                    guard paths.indices.contains(index), paths[index] == change.document.path else { return snapshot }
                    paths.remove(at: index)
                }
                if let index = change.newIndex {
                    guard index <= paths.count else { return snapshot }
                    paths.insert(change.document.path, at: index)
                }
            }
            guard paths == snapshot.documents.map(\.path) else { return snapshot }
        }
        return nil
    }
}

extension DocumentTag {
    static func of(_ data: DocumentData) -> DocumentTag {
        DocumentTag(rawValue: data.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: ","))
    }
}

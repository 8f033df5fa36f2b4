import Switchyard

extension View {
    /// Puts a document, and those below it, under its new name in the place where it is.
    mutating func rename(_ name: NewName, in draft: inout ViewDraft) {
        // No other documents have names that only this device knows.
        for path in draft.contents.pending.sorted() where name(path) != path {
            guard let document = draft.contents[path] else { continue }
            draft.put(nil, at: path, evaluator)
            draft.mayHaveGap = true
            // The stream may have shown it already.
            guard draft.contents[name(path)] == nil else { continue }
            draft.put(document.moved(to: name(path)), at: name(path), evaluator)
            draft.moved.insert(name(path))
        }
    }
}

extension DocumentSnapshot {
    /// The same document under another name.
    func moved(to path: StoragePath) -> DocumentSnapshot {
        DocumentSnapshot(
            path: path, data: data, createTime: createTime, updateTime: updateTime, metadata: metadata)
    }
}

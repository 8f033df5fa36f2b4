/// The documents of a ``QueryView`` that changed, each with its state before the first change.
///
/// Usually there is only one. Then its old and new positions are known, too, and no dictionary is needed.
struct TouchedDocuments: Sendable {
    struct Single: Sendable {
        let path: StoragePath
        let before: DocumentSnapshot?
        /// Its old and new positions, if it has them.
        let oldPlace: Int?
        var newPlace: Int?
    }

    private struct Before: Sendable { let document: DocumentSnapshot? }

    private var first: Single?
    private var others: [StoragePath: Before] = [:]

    var isEmpty: Bool { first == nil }
    var count: Int { first == nil ? 0 : 1 + others.count }

    /// The only document that changed; `nil` if there are several.
    var single: Single? { others.isEmpty ? first : nil }

    /// - Parameter newPlace: Counted after the change, while `oldPlace` is counted before it.
    mutating func note(
        _ path: StoragePath, before: DocumentSnapshot?, at oldPlace: Int? = nil, now newPlace: Int? = nil
    ) {
        guard let first else {
            first = Single(path: path, before: before, oldPlace: oldPlace, newPlace: newPlace)
            return
        }
        if first.path == path {
            self.first?.newPlace = newPlace
        } else if others[path] == nil {
            others[path] = Before(document: before)
        }
    }

    func forEach(_ body: (StoragePath, DocumentSnapshot?) -> Void) {
        if let first { body(first.path, first.before) }
        for (path, before) in others { body(path, before.document) }
    }
}

/// The documents of a query result, in order. Copies share storage, so keeping an old snapshot costs little.
public struct DocumentList: Sendable {
    package var elements: PersistentSequence<DocumentSnapshot>

    package init(_ elements: PersistentSequence<DocumentSnapshot>) { self.elements = elements }

    /// Documents that are already in order.
    public init(inOrder documents: [DocumentSnapshot] = []) {
        elements = PersistentSequence(inOrder: documents)
    }

    /// The same without a copy, for a list that is hardly ever edited: the first edit is linear.
    package init(unsplit documents: [DocumentSnapshot]) {
        elements = PersistentSequence(unsplit: documents)
    }
}

extension DocumentList: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { elements.count }

    /// The document at `position`, in logarithmic time; iterating is linear.
    public subscript(position: Int) -> DocumentSnapshot { elements[position] }

    public struct Iterator: IteratorProtocol {
        fileprivate var base: PersistentSequence<DocumentSnapshot>.Iterator
        public mutating func next() -> DocumentSnapshot? { base.next() }
    }

    public func makeIterator() -> Iterator { Iterator(base: elements.makeIterator()) }
}

/// Edits for other modules. Calling the generic sequence from there would take several times as long.
extension DocumentList {
    /// The position of a document, or where it would be inserted.
    package func position(of document: DocumentSnapshot, by evaluator: QueryEvaluator) -> Int {
        elements.position { evaluator.ordering($0, document) }.index
    }

    package mutating func insert(_ document: DocumentSnapshot, at position: Int) {
        elements.insert(document, at: position)
    }

    /// Replaces the document that has the same place in the order.
    ///
    /// - Returns: Its position; `nil` if there is none.
    package mutating func replace(with document: DocumentSnapshot, by evaluator: QueryEvaluator) -> Int? {
        elements.replace(with: document) { evaluator.ordering($0, document) }
    }

    package mutating func remove(at position: Int) { elements.remove(at: position) }

    /// The changes that turn an empty list into this one.
    package var additions: [DocumentChange] {
        var changes: [DocumentChange] = []
        changes.reserveCapacity(count)
        elements.forEach {
            changes.append(DocumentChange(kind: .added, document: $0, oldIndex: nil, newIndex: changes.count))
        }
        return changes
    }

    package var paths: [StoragePath] {
        var paths: [StoragePath] = []
        paths.reserveCapacity(count)
        elements.forEach { paths.append($0.path) }
        return paths
    }
}

extension DocumentList: Equatable {
    public static func == (left: DocumentList, right: DocumentList) -> Bool {
        left.elements.isIdentical(to: right.elements) || (left.count == right.count && left.elementsEqual(right))
    }
}

extension DocumentList: CustomStringConvertible, CustomDebugStringConvertible {
    /// The documents' own names; the first twenty of many.
    public var description: String {
        let names = prefix(20).map(\.id).joined(separator: ", ")
        return count > 20 ? "[\(names) and \(count - 20) more]" : "[\(names)]"
    }
    public var debugDescription: String { "DocumentList(\(description))" }
}

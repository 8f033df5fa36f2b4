/// A persistent ordered sequence: each edit makes a new one that shares all but a few nodes with the old.
///
/// Insertion, removal and look-up by position or by order are logarithmic; a copy costs nothing. It is a tree of short runs of
/// elements, balanced by its number of nodes (each side at most three times the other).
package struct PersistentSequence<Element: Sendable>: Sendable {
    var root: Node?

    final class Node: Sendable {
        let left: Node?
        let right: Node?
        /// At least one, at most ``mostElements``; in a tree of a single node, any number.
        let elements: [Element]
        /// The number of elements from here down.
        let count: Int
        /// The number of nodes from here down.
        let size: Int

        init(_ left: Node?, _ elements: [Element], _ right: Node?) {
            self.left = left
            self.right = right
            self.elements = elements
            count = (left?.count ?? 0) + elements.count + (right?.count ?? 0)
            size = (left?.size ?? 0) + 1 + (right?.size ?? 0)
        }

        /// The position of its first own element.
        var start: Int { left?.count ?? 0 }
    }

    /// An edit copies this many elements at most.
    static var mostElements: Int { 32 }

    package init() {}

    /// From elements that are already in order; linear.
    package init(inOrder elements: some RandomAccessCollection<Element>) {
        guard !elements.isEmpty else { return }
        let (count, runs) = (elements.count, (elements.count - 1) / (Self.mostElements / 2) + 1)
        func node(_ low: Int, _ high: Int) -> Node? {
            guard low < high else { return nil }
            let middle = (low + high) / 2
            let start = elements.index(elements.startIndex, offsetBy: count * middle / runs)
            let end = elements.index(elements.startIndex, offsetBy: count * (middle + 1) / runs)
            return Node(node(low, middle), Array(elements[start..<end]), node(middle + 1, high))
        }
        root = node(0, runs)
    }

    /// The same without a copy, for what is hardly ever edited: the first edit is linear.
    package init(unsplit elements: [Element]) {
        root = elements.isEmpty ? nil : Node(nil, elements, nil)
    }

    package var count: Int { root?.count ?? 0 }

    package subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count, "Index out of range")
        var node = root!
        var position = position
        while true {
            let own = position - node.start
            if own < 0 {
                node = node.left!
            } else if own < node.elements.count {
                return node.elements[own]
            } else {
                position = own - node.elements.count
                node = node.right!
            }
        }
    }

    /// The index of the first element that does not come before the one sought, and whether it is the one sought.
    ///
    /// - Parameter ordering: The order of an element relative to the one sought.
    package func position(where ordering: (Element) -> Ordering) -> (index: Int, isFound: Bool) {
        var node = root
        var start = 0
        // The last node that begins before the one sought.
        var last: (node: Node, start: Int)?
        while let current = node {
            let own = start + current.start
            switch ordering(current.elements[0]) {
            case .same: return (own, true)
            case .before:
                last = (current, own)
                start = own + current.elements.count
                node = current.right
            case .after: node = current.left
            }
        }
        guard let last else { return (0, false) }
        let (index, isFound) = Self.position(in: last.node.elements, where: ordering)
        return (last.start + index, isFound)
    }

    /// The same within a run whose first element comes before the one sought.
    static func position(in elements: [Element], where ordering: (Element) -> Ordering) -> (index: Int, isFound: Bool) {
        var (low, high) = (1, elements.count)
        while low < high {
            let middle = (low + high) / 2
            switch ordering(elements[middle]) {
            case .same: return (middle, true)
            case .before: low = middle + 1
            case .after: high = middle
            }
        }
        return (low, false)
    }
}

extension PersistentSequence: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    /// Iterating over all elements is linear, unlike access by index.
    package struct Iterator: IteratorProtocol {
        /// The nodes whose elements come after those of the current one.
        private var path: [Node] = []
        private var elements: [Element] = []
        private var index = 0

        fileprivate init(_ root: Node?) { descend(root) }

        private mutating func descend(_ node: Node?) {
            var node = node
            while let current = node {
                path.append(current)
                node = current.left
            }
        }

        package mutating func next() -> Element? {
            if index == elements.count {
                guard let node = path.popLast() else { return nil }
                descend(node.right)
                (elements, index) = (node.elements, 0)
            }
            defer { index += 1 }
            return elements[index]
        }
    }

    package func makeIterator() -> Iterator { Iterator(root) }

    /// Visits the elements in order without copying them.
    package func forEach(_ body: (Element) -> Void) {
        func visit(_ node: Node?) {
            guard let node else { return }
            visit(node.left)
            for element in node.elements { body(element) }
            visit(node.right)
        }
        visit(root)
    }
}

extension PersistentSequence {
    /// Whether both are the very same tree, so that nothing can differ.
    package func isIdentical(to other: PersistentSequence) -> Bool { root === other.root }

    package var first: Element? { root.map { Self.firstRun(of: $0)[0] } }
    package var last: Element? { root.map { Self.lastRun(of: $0).last! } }

    static func firstRun(of node: Node) -> [Element] { node.left.map(firstRun) ?? node.elements }
    static func lastRun(of node: Node) -> [Element] { node.right.map(lastRun) ?? node.elements }

    /// Whether no node has a side more than three times as heavy as the other, or too few or too many elements; for tests.
    package var isBalanced: Bool {
        func isBalanced(_ node: Node?) -> Bool {
            guard let node else { return true }
            let (left, right) = (Self.weight(node.left), Self.weight(node.right))
            return !node.elements.isEmpty && (node.elements.count <= Self.mostElements || node.size == 1)
                && left <= 3 * right && right <= 3 * left && isBalanced(node.left) && isBalanced(node.right)
        }
        return isBalanced(root)
    }
}

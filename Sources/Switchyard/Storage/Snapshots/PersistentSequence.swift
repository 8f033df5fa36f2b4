/// A persistent ordered sequence: each edit makes a new one that shares all but a few nodes with the old.
///
/// Insertion, removal and look-up by position or by order are logarithmic; a copy costs nothing. It is a tree balanced by
/// size (each side at most three times the other), so positions come for free.
package struct PersistentSequence<Element: Sendable>: Sendable {
    fileprivate var root: Node?

    fileprivate final class Node: Sendable {
        let left: Node?
        let right: Node?
        let element: Element
        let count: Int

        init(_ left: Node?, _ element: Element, _ right: Node?) {
            self.left = left
            self.right = right
            self.element = element
            count = (left?.count ?? 0) + (right?.count ?? 0) + 1
        }
    }

    package init() {}

    /// From elements that are already in order; linear.
    package init(inOrder elements: some RandomAccessCollection<Element>) {
        func build(_ slice: some RandomAccessCollection<Element>) -> Node? {
            func node(_ low: Int, _ high: Int) -> Node? {
                guard low < high else { return nil }
                let middle = (low + high) / 2
                return Node(
                    node(low, middle), slice[slice.index(slice.startIndex, offsetBy: middle)], node(middle + 1, high))
            }
            return node(0, slice.count)
        }
        root = build(elements)
    }

    package var count: Int { root?.count ?? 0 }

    package subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count, "Index out of range")
        var node = root!
        var position = position
        while true {
            let leftCount = node.left?.count ?? 0
            if position == leftCount { return node.element }
            if position < leftCount {
                node = node.left!
            } else {
                position -= leftCount + 1
                node = node.right!
            }
        }
    }

    /// The index of the first element that does not come before the one sought, and whether it is the one sought.
    ///
    /// - Parameter ordering: The order of an element relative to the one sought.
    package func position(where ordering: (Element) -> Ordering) -> (index: Int, isFound: Bool) {
        var node = root
        var index = 0
        while let current = node {
            switch ordering(current.element) {
            case .same: return (index + (current.left?.count ?? 0), true)
            case .before:
                index += (current.left?.count ?? 0) + 1
                node = current.right
            case .after: node = current.left
            }
        }
        return (index, false)
    }

    package mutating func insert(_ element: Element, at position: Int) {
        root = PersistentSequence.inserting(element, at: position, into: root)
    }

    package mutating func replace(at position: Int, with element: Element) {
        root = PersistentSequence.replacing(at: position, with: element, in: root!)
    }

    /// Replaces the element that is the one sought, in one descent.
    ///
    /// - Returns: Its index; `nil` if there is none.
    package mutating func replace(with element: Element, where ordering: (Element) -> Ordering) -> Int? {
        guard let root, let (node, index) = Self.replacing(with: element, in: root, from: 0, where: ordering) else {
            return nil
        }
        self.root = node
        return index
    }

    package mutating func remove(at position: Int) {
        root = PersistentSequence.removing(at: position, from: root!)
    }

    private static func inserting(_ element: Element, at position: Int, into node: Node?) -> Node {
        guard let node else { return Node(nil, element, nil) }
        let leftCount = node.left?.count ?? 0
        return position <= leftCount
            ? balanced(inserting(element, at: position, into: node.left), node.element, node.right)
            : balanced(node.left, node.element, inserting(element, at: position - leftCount - 1, into: node.right))
    }

    private static func replacing(at position: Int, with element: Element, in node: Node) -> Node {
        let leftCount = node.left?.count ?? 0
        if position == leftCount { return Node(node.left, element, node.right) }
        return position < leftCount
            ? Node(replacing(at: position, with: element, in: node.left!), node.element, node.right)
            : Node(node.left, node.element, replacing(at: position - leftCount - 1, with: element, in: node.right!))
    }

    /// - Parameter start: The index of the first element below `node`.
    private static func replacing(
        with element: Element, in node: Node, from start: Int, where ordering: (Element) -> Ordering
    ) -> (node: Node, index: Int)? {
        let index = start + (node.left?.count ?? 0)
        switch ordering(node.element) {
        case .same: return (Node(node.left, element, node.right), index)
        case .before:
            guard let right = node.right,
                let found = replacing(with: element, in: right, from: index + 1, where: ordering)
            else { return nil }
            return (Node(node.left, node.element, found.node), found.index)
        case .after:
            guard let left = node.left,
                let found = replacing(with: element, in: left, from: start, where: ordering)
            else { return nil }
            return (Node(found.node, node.element, node.right), found.index)
        }
    }

    private static func removing(at position: Int, from node: Node) -> Node? {
        let leftCount = node.left?.count ?? 0
        if position < leftCount {
            return balanced(removing(at: position, from: node.left!), node.element, node.right)
        }
        if position > leftCount {
            return balanced(node.left, node.element, removing(at: position - leftCount - 1, from: node.right!))
        }
        guard let left = node.left else { return node.right }
        guard let right = node.right else { return left }
        // The neighbour from the larger side replaces it, so that side shrinks.
        if left.count > right.count {
            return balanced(removing(at: left.count - 1, from: left), last(of: left), right)
        }
        return balanced(left, first(of: right), removing(at: 0, from: right))
    }

    /// The elements at `range`, sharing all but a few nodes; logarithmic.
    package func slice(_ range: Range<Int>) -> PersistentSequence {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Range out of bounds")
        var result = PersistentSequence()
        result.root = PersistentSequence.suffix(
            of: PersistentSequence.prefix(of: root, range.upperBound), from: range.lowerBound)
        return result
    }

    private static func prefix(of node: Node?, _ length: Int) -> Node? {
        guard let node, length < node.count else { return node }
        guard length > 0 else { return nil }
        let leftCount = node.left?.count ?? 0
        return length <= leftCount
            ? prefix(of: node.left, length)
            : joined(node.left, node.element, prefix(of: node.right, length - leftCount - 1))
    }

    private static func suffix(of node: Node?, from position: Int) -> Node? {
        guard let node, position > 0 else { return node }
        guard position < node.count else { return nil }
        let leftCount = node.left?.count ?? 0
        return position > leftCount
            ? suffix(of: node.right, from: position - leftCount - 1)
            : joined(suffix(of: node.left, from: position), node.element, node.right)
    }

    /// Joins two trees, which may be of very different size.
    private static func joined(_ left: Node?, _ element: Element, _ right: Node?) -> Node {
        guard let left else { return inserting(element, at: 0, into: right) }
        guard let right else { return inserting(element, at: left.count, into: left) }
        if right.count + 1 > 3 * (left.count + 1) {
            return balanced(joined(left, element, right.left), right.element, right.right)
        }
        if left.count + 1 > 3 * (right.count + 1) {
            return balanced(left.left, left.element, joined(left.right, element, right))
        }
        return Node(left, element, right)
    }

    private static func first(of node: Node) -> Element { node.left.map(first) ?? node.element }
    private static func last(of node: Node) -> Element { node.right.map(last) ?? node.element }

    private static func balanced(_ left: Node?, _ element: Element, _ right: Node?) -> Node {
        let leftWeight = (left?.count ?? 0) + 1
        let rightWeight = (right?.count ?? 0) + 1
        if rightWeight > 3 * leftWeight, let right {
            let inner = (right.left?.count ?? 0) + 1
            let outer = (right.right?.count ?? 0) + 1
            if inner < 2 * outer { return Node(Node(left, element, right.left), right.element, right.right) }
            let middle = right.left!
            return Node(
                Node(left, element, middle.left), middle.element, Node(middle.right, right.element, right.right))
        }
        if leftWeight > 3 * rightWeight, let left {
            let inner = (left.right?.count ?? 0) + 1
            let outer = (left.left?.count ?? 0) + 1
            if inner < 2 * outer { return Node(left.left, left.element, Node(left.right, element, right)) }
            let middle = left.right!
            return Node(Node(left.left, left.element, middle.left), middle.element, Node(middle.right, element, right))
        }
        return Node(left, element, right)
    }
}

extension PersistentSequence: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    /// Iterating over all elements is linear, unlike access by index.
    package struct Iterator: IteratorProtocol {
        fileprivate var path: [Node] = []

        fileprivate init(_ root: Node?) { descend(root) }

        private mutating func descend(_ node: Node?) {
            var node = node
            while let current = node {
                path.append(current)
                node = current.left
            }
        }

        package mutating func next() -> Element? {
            guard let node = path.popLast() else { return nil }
            descend(node.right)
            return node.element
        }
    }

    package func makeIterator() -> Iterator { Iterator(root) }

    /// Visits the elements in order without copying them.
    package func forEach(_ body: (Element) -> Void) {
        func visit(_ node: Node?) {
            guard let node else { return }
            visit(node.left)
            body(node.element)
            visit(node.right)
        }
        visit(root)
    }
}

extension PersistentSequence {
    /// Whether both are the very same tree, so that nothing can differ.
    package func isIdentical(to other: PersistentSequence) -> Bool { root === other.root }

    package var first: Element? { root.map(PersistentSequence.first) }
    package var last: Element? { root.map(PersistentSequence.last) }

    /// Whether no node has a side more than three times as heavy as the other; for tests.
    package var isBalanced: Bool {
        func isBalanced(_ node: Node?) -> Bool {
            guard let node else { return true }
            let left = (node.left?.count ?? 0) + 1
            let right = (node.right?.count ?? 0) + 1
            return left <= 3 * right && right <= 3 * left && isBalanced(node.left) && isBalanced(node.right)
        }
        return isBalanced(root)
    }
}

extension PersistentSequence {
    package mutating func insert(_ element: Element, at position: Int) {
        split()
        root = Self.inserting(element, at: position, into: root)
    }

    package mutating func replace(at position: Int, with element: Element) {
        split()
        root = Self.replacing(at: position, with: element, in: root!)
    }

    /// Replaces the element that is the one sought, in one descent.
    ///
    /// - Returns: Its index; `nil` if there is none.
    package mutating func replace(with element: Element, where ordering: (Element) -> Ordering) -> Int? {
        guard let root, root.size > 1 || root.elements.count <= Self.mostElements else {
            let (index, isFound) = position(where: ordering)
            if isFound { replace(at: index, with: element) }
            return isFound ? index : nil
        }
        guard let (node, index) = Self.replacing(with: element, in: root, from: 0, where: ordering) else { return nil }
        self.root = node
        return index
    }

    package mutating func remove(at position: Int) {
        split()
        root = Self.removing(at: position, from: root!)
    }

    /// The elements at `range`, sharing all but a few nodes; logarithmic.
    package func slice(_ range: Range<Int>) -> PersistentSequence {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Range out of bounds")
        var result = PersistentSequence()
        result.root = Self.suffix(of: Self.prefix(of: root, range.upperBound), from: range.lowerBound)
        return result
    }

    /// Makes a tree of what was not one yet.
    private mutating func split() {
        guard let root, root.elements.count > Self.mostElements else { return }
        self = PersistentSequence(inOrder: root.elements)
    }

    // MARK: One element

    private static func inserting(_ element: Element, at position: Int, into node: Node?) -> Node {
        guard let node else { return Node(nil, [element], nil) }
        let own = position - node.start
        if own < 0 { return balanced(inserting(element, at: position, into: node.left), node.elements, node.right) }
        if own > node.elements.count {
            return balanced(
                node.left, node.elements, inserting(element, at: own - node.elements.count, into: node.right))
        }
        let elements = node.elements.inserting(element, at: own)
        guard elements.count > mostElements else { return Node(node.left, elements, node.right) }
        let half = elements.count / 2
        return balanced(node.left, Array(elements[..<half]), prepending(Array(elements[half...]), to: node.right))
    }

    private static func replacing(at position: Int, with element: Element, in node: Node) -> Node {
        let own = position - node.start
        if own < 0 {
            return Node(replacing(at: position, with: element, in: node.left!), node.elements, node.right)
        }
        if own >= node.elements.count {
            let right = replacing(at: own - node.elements.count, with: element, in: node.right!)
            return Node(node.left, node.elements, right)
        }
        return replacing(own, with: element, in: node)
    }

    /// - Parameter start: The index of the first element below `node`.
    private static func replacing(
        with element: Element, in node: Node, from start: Int, where ordering: (Element) -> Ordering
    ) -> (node: Node, index: Int)? {
        let own = start + node.start
        switch ordering(node.elements[0]) {
        case .same: return (replacing(0, with: element, in: node), own)
        case .before:
            if let right = node.right,
                let found = replacing(with: element, in: right, from: own + node.elements.count, where: ordering)
            {
                return (Node(node.left, node.elements, found.node), found.index)
            }
            let (index, isFound) = position(in: node.elements, where: ordering)
            return isFound ? (replacing(index, with: element, in: node), own + index) : nil
        case .after:
            guard let left = node.left,
                let found = replacing(with: element, in: left, from: start, where: ordering)
            else { return nil }
            return (Node(found.node, node.elements, node.right), found.index)
        }
    }

    /// - Parameter index: An index into the node's own elements.
    private static func replacing(_ index: Int, with element: Element, in node: Node) -> Node {
        var elements = node.elements
        elements[index] = element
        return Node(node.left, elements, node.right)
    }

    private static func removing(at position: Int, from node: Node) -> Node? {
        let own = position - node.start
        if own < 0 { return balanced(removing(at: position, from: node.left!), node.elements, node.right) }
        if own >= node.elements.count {
            return balanced(
                node.left, node.elements, removing(at: own - node.elements.count, from: node.right!))
        }
        if node.elements.count > 1 { return Node(node.left, node.elements.removing(at: own), node.right) }
        return joined(node.left, node.right)
    }

    // MARK: Runs

    /// Joins the two sides of a node without it.
    private static func joined(_ left: Node?, _ right: Node?) -> Node? {
        guard let left else { return right }
        guard let right else { return left }
        // The neighbour from the larger side takes its place, so that side shrinks.
        return left.size > right.size
            ? balanced(removingLastRun(from: left), lastRun(of: left), right)
            : balanced(left, firstRun(of: right), removingFirstRun(from: right))
    }

    private static func removingFirstRun(from node: Node) -> Node? {
        guard let left = node.left else { return node.right }
        return balanced(removingFirstRun(from: left), node.elements, node.right)
    }

    private static func removingLastRun(from node: Node) -> Node? {
        guard let right = node.right else { return node.left }
        return balanced(node.left, node.elements, removingLastRun(from: right))
    }

    private static func prepending(_ elements: [Element], to node: Node?) -> Node {
        guard let node else { return Node(nil, elements, nil) }
        return balanced(prepending(elements, to: node.left), node.elements, node.right)
    }

    private static func appending(_ elements: [Element], to node: Node?) -> Node {
        guard let node else { return Node(nil, elements, nil) }
        return balanced(node.left, node.elements, appending(elements, to: node.right))
    }

    private static func prefix(of node: Node?, _ length: Int) -> Node? {
        guard let node, length < node.count else { return node }
        guard length > 0 else { return nil }
        let own = length - node.start
        if own <= 0 { return prefix(of: node.left, length) }
        if own <= node.elements.count { return joined(node.left, Array(node.elements[..<own]), nil) }
        return joined(node.left, node.elements, prefix(of: node.right, own - node.elements.count))
    }

    private static func suffix(of node: Node?, from position: Int) -> Node? {
        guard let node, position > 0 else { return node }
        guard position < node.count else { return nil }
        let own = position - node.start
        if own >= node.elements.count { return suffix(of: node.right, from: own - node.elements.count) }
        if own >= 0 { return joined(nil, Array(node.elements[own...]), node.right) }
        return joined(suffix(of: node.left, from: position), node.elements, node.right)
    }

    /// Joins two trees, which may be of very different size.
    private static func joined(_ left: Node?, _ elements: [Element], _ right: Node?) -> Node {
        guard let left else { return prepending(elements, to: right) }
        guard let right else { return appending(elements, to: left) }
        if weight(right) > 3 * weight(left) {
            return balanced(joined(left, elements, right.left), right.elements, right.right)
        }
        if weight(left) > 3 * weight(right) {
            return balanced(left.left, left.elements, joined(left.right, elements, right))
        }
        return Node(left, elements, right)
    }

    static func weight(_ node: Node?) -> Int { (node?.size ?? 0) + 1 }

    private static func balanced(_ left: Node?, _ elements: [Element], _ right: Node?) -> Node {
        if let right, weight(right) > 3 * weight(left) {
            if weight(right.left) < 2 * weight(right.right) {
                return Node(Node(left, elements, right.left), right.elements, right.right)
            }
            let middle = right.left!
            return Node(
                Node(left, elements, middle.left), middle.elements, Node(middle.right, right.elements, right.right))
        }
        if let left, weight(left) > 3 * weight(right) {
            if weight(left.right) < 2 * weight(left.left) {
                return Node(left.left, left.elements, Node(left.right, elements, right))
            }
            let middle = left.right!
            return Node(
                Node(left.left, left.elements, middle.left), middle.elements, Node(middle.right, elements, right))
        }
        return Node(left, elements, right)
    }
}

extension Array {
    /// A copy with exactly the memory that it needs.
    fileprivate func inserting(_ element: Element, at index: Int) -> [Element] {
        Array(unsafeUninitializedCapacity: count + 1) { buffer, count in
            count = buffer.initialize(fromContentsOf: self[..<index])
            buffer.initializeElement(at: count, to: element)
            count = buffer[(index + 1)...].initialize(fromContentsOf: self[index...])
        }
    }

    fileprivate func removing(at index: Int) -> [Element] {
        Array(unsafeUninitializedCapacity: count - 1) { buffer, count in
            let half = buffer.initialize(fromContentsOf: self[..<index])
            count = buffer[half...].initialize(fromContentsOf: self[(index + 1)...])
        }
    }
}

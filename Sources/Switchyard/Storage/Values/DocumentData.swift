/// The fields of a document, or of a map in one: names and values, in the order of the names' UTF-8 bytes.
///
/// Names that Swift considers equal but that differ in their bytes are different fields, as on a server.
public struct DocumentData: Sendable {
    /// Sorted by name: at the size of documents, binary search is faster than hashing, and comparing two takes one pass.
    package private(set) var entries: [Entry]

    package struct Entry: Sendable, Hashable {
        package let name: String
        /// The beginning of the name. If two ranks differ, which they nearly always do, the names need not be compared.
        fileprivate let rank: UInt64
        package var value: DocumentValue

        package init(name: String, value: DocumentValue) {
            self.name = name
            self.value = value
            rank = name.utf8Rank
        }

        package static func == (left: Entry, right: Entry) -> Bool {
            left.rank == right.rank && left.name.utf8Equals(right.name) && left.value == right.value
        }

        package func hash(into hasher: inout Hasher) {
            name.hashUTF8(into: &hasher)
            hasher.combine(value)
        }
    }

    public init() { entries = [] }

    /// Fields from pairs; of two with the same name the later one wins.
    public init(_ pairs: some Sequence<(String, DocumentValue)>) {
        self.init(unsorted: pairs.map { Entry(name: $0.0, value: $0.1) })
    }

    /// Fields in any order; of two with the same name the later one wins.
    package init(unsorted: [Entry]) {
        entries = unsorted
        guard !isSorted else { return }
        // A stable sort, so the last of several equal names is the one given last.
        if entries.count <= 32 {
            sortByInsertion()
        } else {
            entries.sort { $0.ordering(to: $1) == .before }
        }
        guard !isSorted else { return }
        var unique: [Entry] = []
        unique.reserveCapacity(entries.count)
        for entry in entries {
            if let last = unique.last, last.ordering(to: entry) == .same { unique.removeLast() }
            unique.append(entry)
        }
        entries = unique
    }

    /// Fields whose names differ and are in order.
    package init(inOrder entries: [Entry]) { self.entries = entries }

    /// Whether every name comes after the one before it.
    private var isSorted: Bool {
        entries.withUnsafeBufferPointer { entries in
            for index in entries.indices.dropFirst()
            where entries[index - 1].ordering(to: entries[index]) != .before { return false }
            return true
        }
    }

    /// Quicker than a general sort for the few fields that most documents have.
    private mutating func sortByInsertion() {
        entries.withUnsafeMutableBufferPointer { entries in
            guard let first = entries.baseAddress else { return }
            for end in entries.indices.dropFirst() {
                var place = end
                while place > 0, first[place - 1].ordering(to: first[end]) == .after { place -= 1 }
                guard place < end else { continue }
                // Moved without touching reference counts.
                let entry = (first + end).move()
                (first + place + 1).moveInitialize(from: first + place, count: end - place)
                (first + place).initialize(to: entry)
            }
        }
    }

    public var count: Int { entries.count }
    public var isEmpty: Bool { entries.isEmpty }
    public var names: [String] { entries.map(\.name) }

    /// The value of the field called `name`, whatever characters it contains; setting `nil` removes the field.
    public subscript(name: String) -> DocumentValue? {
        get {
            let (index, isFound) = position(of: name)
            // No conditional expression: in one, `nil` would be read as the value null.
            guard isFound else { return nil }
            return entries[index].value
        }
        set {
            let (index, isFound) = position(of: name)
            switch (newValue, isFound) {
            case (let value?, true): entries[index].value = value
            case (let value?, false): entries.insert(Entry(name: name, value: value), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// The value at `path`, through nested maps; setting creates missing maps, and setting `nil` removes the field.
    public subscript(path: FieldPath) -> DocumentValue? {
        get {
            let names = path.components
            guard names.count > 1 else {
                let (index, isFound) = position(of: names[0], path.rank)
                guard isFound else { return nil }
                return entries[index].value
            }
            var data = self
            for name in names.dropLast() {
                guard case .map(let next) = data[name] else { return nil }
                data = next
            }
            return data[names[names.count - 1]]
        }
        set { set(newValue, at: path.components[...]) }
    }

    private mutating func set(_ value: DocumentValue?, at path: ArraySlice<String>) {
        let name = path.first!
        let rest = path.dropFirst()
        guard !rest.isEmpty else {
            self[name] = value
            return
        }
        let (index, isFound) = position(of: name)
        let existing = isFound ? entries[index].value.mapValue : nil
        if existing == nil && value == nil { return }
        if isFound {
            entries[index].value = .null  // leaves `inner` uniquely referenced, so nothing is copied
        } else {
            entries.insert(Entry(name: name, value: .null), at: index)
        }
        var inner = existing ?? DocumentData()
        inner.set(value, at: rest)
        entries[index].value = .map(inner)
    }

    /// Only the fields that `fields` name, each in its place; missing ones stay missing.
    package func projected(to fields: [FieldPath]) -> DocumentData {
        var result = DocumentData()
        for field in fields where !field.isDocumentID {
            if let value = self[field] { result[field] = value }
        }
        return result
    }

    /// The place of a field among the ``entries``.
    func place(of name: String) -> Int? {
        let (index, isFound) = position(of: name)
        return isFound ? index : nil
    }

    /// The value of the entry at `place` if there is one and it is that field.
    @inline(__always)
    func value(at place: Int, ifCalled name: String) -> DocumentValue? {
        entries.withUnsafeBufferPointer { entries in
            // No conditional expression: in one, `nil` would be read as the value null.
            guard place < entries.count, entries[place].name.utf8Equals(name) else { return nil }
            return entries[place].value
        }
    }

    /// Whether there is a field at `path`; cheaper than reading its value.
    func hasValue(at path: FieldPath) -> Bool {
        path.components.count == 1 ? position(of: path.components[0], path.rank).isFound : self[path] != nil
    }

    private func position(of name: String) -> (index: Int, isFound: Bool) { position(of: name, name.utf8Rank) }

    private func position(of name: String, _ rank: UInt64) -> (index: Int, isFound: Bool) {
        // The innermost loop of every query: most steps compare two numbers, and no entry is copied.
        entries.withUnsafeBufferPointer { entries in
            var low = 0
            var high = entries.count
            while low < high {
                let middle = (low + high) / 2
                switch entries[middle].ordering(to: name, rank) {
                case .same: return (middle, true)
                case .before: low = middle + 1
                case .after: high = middle
                }
            }
            return (low, false)
        }
    }
}

extension DocumentData.Entry {
    fileprivate func ordering(to other: DocumentData.Entry) -> Ordering { ordering(to: other.name, other.rank) }

    /// By name alone.
    @inline(__always)
    fileprivate func ordering(to otherName: String, _ otherRank: UInt64) -> Ordering {
        if rank != otherRank { return rank < otherRank ? .before : .after }
        // The rank of a short name contains the whole name, except for zeros at the end.
        let (count, otherCount) = (name.utf8.count, otherName.utf8.count)
        return max(count, otherCount) <= 8 ? Ordering(count, otherCount) : name.utf8Ordering(to: otherName)
    }
}

extension DocumentData: Hashable {
    public static func == (left: DocumentData, right: DocumentData) -> Bool { left.entries == right.entries }
    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

extension DocumentData: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, DocumentValue)...) { self.init(elements) }
}

extension DocumentData: Sequence {
    public struct Iterator: IteratorProtocol {
        fileprivate var base: IndexingIterator<[Entry]>
        public mutating func next() -> (name: String, value: DocumentValue)? {
            base.next().map { ($0.name, $0.value) }
        }
    }

    /// Field by field, by the UTF-8 bytes of the names.
    public func makeIterator() -> Iterator { Iterator(base: entries.makeIterator()) }
    public var underestimatedCount: Int { entries.count }
}

extension DocumentData: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of fields, but never their contents, since descriptions end up in logs.
    public var description: String { "DocumentData(\(count) field\(count == 1 ? "" : "s"))" }
    public var debugDescription: String { description }
}

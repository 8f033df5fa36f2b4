import SwitchyardBytes

/// How the rows of one relation find those of another.
struct RESTRelationship: Sendable {
    typealias Relation = RESTRelations.Relation

    /// In the order in which messages list them.
    enum Kind: Int {
        case oneToMany, manyToOne, oneToOne, manyToMany, computed
    }
    struct Columns: Sendable {
        let origin: String
        let target: String
    }
    /// A table between two others. The columns lead from the origin to it, and from it to the target.
    struct Junction: Sendable {
        let relation: Relation
        let constraint: String
        let columns: [Columns]
        let otherConstraint: String
        let otherColumns: [Columns]
    }

    let origin: Relation
    let target: Relation
    let kind: Kind
    /// The name of the foreign key.
    let constraint: String
    let columns: [Columns]
    private(set) var junction: Junction?
    /// The quoted name of the function that returns the related rows.
    private(set) var function: String?
    let isToOne: Bool

    init(origin: Relation, target: Relation, constraint: String, kind: Kind, columns: [Columns]) {
        self.origin = origin
        self.target = target
        self.constraint = constraint
        self.kind = kind
        self.columns = columns
        isToOne = kind == .manyToOne || kind == .oneToOne
    }

    /// Of the targets of two foreign keys of one table.
    init(joining first: RESTRelationship, to second: RESTRelationship) {
        self.init(
            origin: first.target, target: second.target, constraint: first.constraint, kind: .manyToMany, columns: [])
        junction = Junction(
            relation: first.origin, constraint: first.constraint, columns: first.inverse.columns,
            otherConstraint: second.constraint, otherColumns: second.columns)
    }

    init(origin: Relation, target: Relation, function: String, isToOne: Bool) {
        self.origin = origin
        self.target = target
        self.function = function
        self.isToOne = isToOne
        (kind, constraint, columns) = (.computed, "", [])
    }

    /// From the rows that a foreign key names to those that have it.
    var inverse: RESTRelationship {
        RESTRelationship(
            origin: target, target: origin, constraint: constraint, kind: kind == .manyToOne ? .oneToMany : kind,
            columns: columns.map { Columns(origin: $0.target, target: $0.origin) })
    }

    /// The columns of the origin that the join needs; `nil` for all.
    var needed: [String]? {
        function == nil ? (junction?.columns ?? columns).map(\.origin) : nil
    }

    // MARK: Choosing

    /// Whether a request means it by a name and a hint.
    func matches(_ name: String, hint: String?) -> Bool {
        guard origin.id != target.id else { return matchesSelf(name, hint) }
        guard let hint else {
            if name == target.name { return true }
            return !target.isView && kind != .manyToMany && (name == constraint || isOnly(name, \.origin))
        }
        guard name == target.name else { return false }
        if let junction { return hint == junction.relation.name }
        return hint == constraint || isOnly(hint, \.origin) || isOnly(hint, \.target)
    }

    /// Within one table, its name means the rows that refer to a row, and a column the row that it refers to.
    private func matchesSelf(_ name: String, _ hint: String?) -> Bool {
        switch kind {
        case .oneToMany: name == target.name && (hint.map { isOnly($0, \.target) } ?? true)
        case .manyToOne: hint == nil && isOnly(name, \.origin)
        default: false
        }
    }

    private func isOnly(_ name: String, _ side: KeyPath<Columns, String>) -> Bool {
        columns.count == 1 && columns[0][keyPath: side] == name
    }

    // MARK: Messages

    /// How a request names it unmistakably.
    var suggestion: String { "'\(target.name)!\(junction?.relation.name ?? constraint)'" }

    var description: JSON {
        func list(_ names: [String]) -> String { "(\(names.joined(separator: ", ")))" }
        let cardinality =
            switch kind {
            case .oneToMany: "one-to-many"
            case .manyToOne: "many-to-one"
            case .oneToOne: "one-to-one"
            case .manyToMany, .computed: "many-to-many"
            }
        var relationship =
            "\(constraint) using \(origin.name)\(list(columns.map(\.origin))) and \(target.name)\(list(columns.map(\.target)))"
        if let junction {
            relationship =
                "\(junction.relation.name) using \(junction.constraint)\(list(junction.columns.map(\.target))) and "
                + "\(junction.otherConstraint)\(list(junction.otherColumns.map(\.origin)))"
        }
        return [
            "cardinality": .string(cardinality), "embedding": .string("\(origin.name) with \(target.name)"),
            "relationship": .string(relationship),
        ]
    }
}

extension RESTRelationship: Comparable {
    private var place: [String] {
        [
            target.name, origin.id == target.id ? "1" : "0", "\(kind.rawValue)", junction?.relation.name ?? "",
            constraint, junction?.otherConstraint ?? "",
        ] + columns.flatMap { [$0.origin, $0.target] }
    }

    static func < (one: RESTRelationship, other: RESTRelationship) -> Bool {
        one.place.lexicographicallyPrecedes(other.place)
    }
    static func == (one: RESTRelationship, other: RESTRelationship) -> Bool { one.place == other.place }
}

/// Where the columns of a view come from, as the database's rule for the view says.
enum RESTViewDefinition {
    struct Column: Hashable, Sendable {
        let relation: Int
        let column: Int
    }

    /// Parses a rule's action, which is a tree of nodes such as `({QUERY … :targetList ({TARGETENTRY … :resno 1 …}) …})`.
    ///
    /// - Returns: The origin of each column of the view that shows a column of a table or view as it is.
    static func origins(_ text: String) -> [Int: Column] {
        var origins: [Int: Column] = [:]
        var entry: [String: Int] = [:]
        var (depth, key, word, isEscaped) = (0, "", [UInt8](), false)

        func endWord() {
            guard !word.isEmpty else { return }
            defer { word.removeAll(keepingCapacity: true) }
            if word[0] == UInt8(ascii: ":") {
                key = String(decoding: word, as: UTF8.self)
            } else if let number = Int(String(decoding: word, as: UTF8.self)) {
                entry[key] = number
                key = ""
            }
        }
        for byte in text.utf8 {
            if isEscaped {
                // A backslash stands before brackets that are part of a name.
                isEscaped = false
                continue
            }
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "{"):
                endWord()
                depth += 1
                if depth == 2 { entry = [:] }
            case UInt8(ascii: "}"):
                endWord()
                // Within the outermost query; other queries are deeper.
                if depth == 2, let column = entry[":resno"], let relation = entry[":resorigtbl"], relation != 0,
                    let origin = entry[":resorigcol"], origin > 0
                {
                    origins[column] = Column(relation: relation, column: origin)
                }
                depth -= 1
            case UInt8(ascii: " "), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\n"): endWord()
            default: if depth == 2 { word.append(byte) }
            }
        }
        return origins
    }
}

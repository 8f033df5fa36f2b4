import SwitchyardBytes

/// The requested parts of each row.
struct RESTSelection: Hashable, Sendable {
    struct Item: Hashable, Sendable {
        let column: RESTColumn
        /// `nil` for the column's own name.
        let alias: String?
        let cast: String?
        /// For a value over all rows that the other columns do not tell apart.
        var aggregate: Aggregate?
    }

    /// A function over rows, and what its result is cast to.
    struct Aggregate: Hashable, Sendable {
        static let functions: Set<String> = ["avg", "count", "max", "min", "sum"]

        let function: String
        let cast: String?
    }

    /// A `nil` element means all columns.
    private(set) var items: [Item?]
    /// Related rows, which come after the columns.
    var embeddings: [RESTEmbedding] = []

    /// Whether anything is a value over several rows, also among the related ones.
    var hasAggregates: Bool {
        items.contains { $0?.aggregate != nil } || embeddings.contains { $0.selection.hasAggregates }
    }

    var isEverything: Bool { items == [nil] && embeddings.isEmpty }
    static let everything = RESTSelection(items: [nil])

    /// `id,name:full_name,city:data->address->>city,price::text,*,owner:users(name)`
    init(parsing text: String) throws(RESTFailure) {
        var scanner = RESTScanner(text)
        guard !scanner.isAtEnd else {
            self = .everything
            return
        }
        try self.init(&scanner)
        guard scanner.isAtEnd else { throw .unparsable(text) }
    }

    private init(items: [Item?]) { self.items = items }

    private init(_ scanner: inout RESTScanner, depth: Int = 0) throws(RESTFailure) {
        guard depth < 32 else { throw .unparsable("too many levels") }
        items = []
        repeat {
            scanner.skipSpaces()
            if scanner.skip("*") {
                items.append(nil)
            } else if scanner.skip("...") {
                let name = try RESTSelection.name(&scanner)
                embeddings.append(try RESTSelection.embedding(name, nil, isSpread: true, &scanner, depth))
            } else {
                try parseItem(&scanner, depth)
            }
            scanner.skipSpaces()
        } while scanner.skip(",")
    }

    private mutating func parseItem(_ scanner: inout RESTScanner, _ depth: Int) throws(RESTFailure) {
        var name = try RESTSelection.name(&scanner)
        var alias: String?
        let copy = scanner
        if scanner.skip(":"), scanner.peek != ":" {
            alias = name
            name = try RESTSelection.name(&scanner)
        } else {
            scanner = copy
        }
        if name == "count", scanner.peek == "(" || scanner.peek == "!" {
            guard scanner.skip("()") else { throw .unparsable("count") }
            let count = Aggregate(function: "count", cast: try RESTSelection.cast(&scanner))
            items.append(Item(column: RESTColumn("", steps: []), alias: alias, cast: nil, aggregate: count))
            return
        }
        if scanner.peek == "(" || scanner.peek == "!" {
            embeddings.append(try RESTSelection.embedding(name, alias, isSpread: false, &scanner, depth))
        } else {
            items.append(try RESTSelection.item(name, alias, &scanner))
        }
    }

    /// Parses what follows the name of related rows: `!todos_owner_fkey!inner(name)`.
    private static func embedding(
        _ name: String, _ alias: String?, isSpread: Bool, _ scanner: inout RESTScanner, _ depth: Int
    ) throws(RESTFailure) -> RESTEmbedding {
        var (hint, isInner): (String?, Bool) = (nil, false)
        for _ in 0..<2 where scanner.skip("!") {
            switch try RESTSelection.name(&scanner) {
            case "inner": isInner = true
            case "left": break
            case let word: hint = word
            }
        }
        try scanner.demand("(")
        var selection = RESTSelection(items: [])
        if !scanner.skip(")") {
            selection = try RESTSelection(&scanner, depth: depth + 1)
            try scanner.demand(")")
        }
        return RESTEmbedding(
            name: name, alias: alias, hint: hint, isInner: isInner, isSpread: isSpread, selection: selection)
    }

    /// Parses a name; spaces around it do not count unless it is quoted.
    private static func name(_ scanner: inout RESTScanner) throws(RESTFailure) -> String {
        scanner.skipSpaces()
        if scanner.peek == "\"" { return try scanner.quoted() }
        var name = try scanner.name { ",:().!".contains($0) }
        while name.last == " " { name.removeLast() }
        return name
    }

    private static func item(
        _ name: String, _ alias: String?, _ scanner: inout RESTScanner
    ) throws(RESTFailure) -> Item {
        let column = RESTColumn(name, steps: try RESTColumn.steps(&scanner))
        var item = Item(column: column, alias: alias, cast: try cast(&scanner))
        if scanner.skip(".") {
            let function = scanner.take { $0.isLetter }
            guard Aggregate.functions.contains(function), scanner.skip("()") else { throw .unparsable(function) }
            item.aggregate = Aggregate(function: function, cast: try cast(&scanner))
        }
        return item
    }

    private static func cast(_ scanner: inout RESTScanner) throws(RESTFailure) -> String? {
        guard scanner.skip("::") else { return nil }
        // Names of several words, such as “double precision”, are not quoted; nothing else could be said with these letters.
        let cast = scanner.take { $0.isLetter || $0.isNumber || "_ $".contains($0) }.trimmed
        guard !cast.isEmpty else { throw .unparsable("::") }
        return cast
    }
}

/// A sort key of rows.
struct RESTOrder: Hashable, Sendable {
    /// The embedded row that has the column, as in `users(name)`; `nil` for the row itself.
    let relation: String?
    let column: RESTColumn
    let isDescending: Bool
    /// `nil` for the database's default.
    let nullsFirst: Bool?

    /// Parses a name; spaces around it do not count unless it is quoted.
    private static func name(
        _ scanner: inout RESTScanner, until isEnd: (Character) -> Bool
    ) throws(RESTFailure) -> String {
        scanner.skipSpaces()
        if scanner.peek == "\"" { return try scanner.quoted() }
        return try scanner.name(until: isEnd).trimmed
    }

    static func parse(_ text: String) throws(RESTFailure) -> [RESTOrder] {
        var scanner = RESTScanner(text)
        var keys: [RESTOrder] = []
        repeat {
            var relation: String?
            var name = try RESTOrder.name(&scanner) { $0 == "." || $0 == "," || $0 == "(" }
            if scanner.skip("(") {
                relation = name
                name = try RESTOrder.name(&scanner) { $0 == ")" }
            }
            let column = RESTColumn(name, steps: try RESTColumn.steps(&scanner))
            scanner.skipSpaces()
            if relation != nil { try scanner.demand(")") }
            let isDescending = scanner.skip(".desc")
            if !isDescending { _ = scanner.skip(".asc") }
            let isFirst = scanner.skip(".nullsfirst")
            let nullsFirst = isFirst ? true : scanner.skip(".nullslast") ? false : nil
            keys.append(
                RESTOrder(relation: relation, column: column, isDescending: isDescending, nullsFirst: nullsFirst))
        } while scanner.skip(",")
        guard scanner.isAtEnd else { throw .unparsable(text) }
        return keys
    }
}

/// Related rows within each row, as requested: `owner:users!todos_owner_fkey(name)`.
struct RESTEmbedding: Hashable, Sendable {
    let name: String
    let alias: String?
    /// What tells several relationships apart: a foreign key, one of its columns, or a joining table.
    let hint: String?
    /// Whether rows without related ones are left out.
    let isInner: Bool
    /// Whether the columns become those of the row: `...users(name)`.
    let isSpread: Bool
    var selection: RESTSelection
    var filters: [RESTFilter] = []
    var order: [RESTOrder] = []
    var limit: Int?
    var offset = 0

    /// Its name in results and in conditions.
    var label: String { alias ?? name }

    /// Whether the rows serve for conditions only: `users()`.
    var isEmpty: Bool { selection.items.isEmpty && selection.embeddings.allSatisfy(\.isEmpty) }

    /// The parts of a parameter's name before the last one, which name embedded rows: `users.messages.at` concerns
    /// `users.messages`.
    static func path(of name: String) throws(RESTFailure) -> (path: [String], rest: String) {
        var scanner = RESTScanner(name)
        var path: [String] = []
        while true {
            var start = scanner
            let part = try scanner.name { $0 == "." }
            guard scanner.skip(".") else {
                let rest = start.takeRest()
                if path.last == "not", rest == "and" || rest == "or" { return (path.dropLast(), "not." + rest) }
                return (path, rest)
            }
            path.append(part)
        }
    }
}

extension RESTSelection {
    /// Changes the embedding at a path.
    mutating func change(
        _ path: some Collection<String>, _ body: (inout RESTEmbedding) -> Void
    ) throws(RESTFailure) {
        guard let name = path.first else { return }
        // As with the vendor, the relation's own name works even if there is an alias.
        guard
            let index = embeddings.firstIndex(where: { $0.label == name })
                ?? embeddings.firstIndex(where: { $0.name == name })
        else { throw .notEmbedded(name) }
        guard path.count > 1 else { return body(&embeddings[index]) }
        try embeddings[index].selection.change(path.dropFirst(), body)
    }
}

extension RESTFailure {
    static func notEmbedded(_ name: String) -> RESTFailure {
        var failure = RESTFailure(400, "PGRST108", "'\(name)' is not an embedded resource in this request")
        failure.hint = .string("Verify that '\(name)' is included in the 'select' query parameter.")
        return failure
    }
}

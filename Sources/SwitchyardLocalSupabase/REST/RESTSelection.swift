/// The requested parts of each row.
struct RESTSelection: Hashable, Sendable {
    struct Item: Hashable, Sendable {
        let column: RESTColumn
        /// `nil` for the column's own name.
        let alias: String?
        let cast: String?
    }

    /// A `nil` element means all columns.
    let items: [Item?]

    var isEverything: Bool { items == [nil] }
    static let everything = RESTSelection(items: [nil])

    /// `id,name:full_name,city:data->address->>city,price::text,*`
    init(parsing text: String) throws(RESTFailure) {
        var scanner = RESTScanner(text)
        var items: [Item?] = []
        guard !scanner.isAtEnd else {
            self = .everything
            return
        }
        repeat {
            scanner.skipSpaces()
            if scanner.skip("*") {
                items.append(nil)
            } else {
                items.append(try RESTSelection.item(&scanner))
            }
            scanner.skipSpaces()
        } while scanner.skip(",")
        guard scanner.isAtEnd else { throw .unparsable(text) }
        self.items = items
    }

    private init(items: [Item?]) { self.items = items }

    private static func item(_ scanner: inout RESTScanner) throws(RESTFailure) -> Item {
        let ends: (Character) -> Bool = { ",:().!".contains($0) }
        var name = try scanner.name(until: ends)
        var alias: String?
        let copy = scanner
        if scanner.skip(":"), scanner.peek != ":" {
            alias = name
            name = try scanner.name(until: ends)
        } else {
            scanner = copy
        }
        if scanner.peek == "(" || scanner.peek == "!" || name == "..." {
            throw RESTFailure(
                400, "PGRST200", "Could not find a relationship to '\(name)': tables within tables are not served here")
        }
        if scanner.peek == "." {
            throw RESTFailure(400, "PGRST123", "Use of aggregate functions is not allowed")
        }
        let column = RESTColumn(name, steps: try RESTColumn.steps(&scanner))
        guard scanner.skip("::") else { return Item(column: column, alias: alias, cast: nil) }
        let cast = scanner.take { $0.isLetter || $0.isNumber || $0 == "_" }
        guard !cast.isEmpty else { throw .unparsable("::") }
        return Item(column: column, alias: alias, cast: cast)
    }
}

/// A sort key of rows.
struct RESTOrder: Hashable, Sendable {
    let column: RESTColumn
    let isDescending: Bool
    /// `nil` for the database's default.
    let nullsFirst: Bool?

    static func parse(_ text: String) throws(RESTFailure) -> [RESTOrder] {
        var scanner = RESTScanner(text)
        var keys: [RESTOrder] = []
        repeat {
            let name = try scanner.name { $0 == "." || $0 == "," }
            let column = RESTColumn(name, steps: try RESTColumn.steps(&scanner))
            var (isDescending, nullsFirst): (Bool, Bool?) = (false, nil)
            while scanner.skip(".") {
                switch scanner.take(while: { $0.isLetter }) {
                case "asc": isDescending = false
                case "desc": isDescending = true
                case "nullsfirst": nullsFirst = true
                case "nullslast": nullsFirst = false
                default: throw .unparsable(text)
                }
            }
            keys.append(RESTOrder(column: column, isDescending: isDescending, nullsFirst: nullsFirst))
        } while scanner.skip(",")
        guard scanner.isAtEnd else { throw .unparsable(text) }
        return keys
    }
}

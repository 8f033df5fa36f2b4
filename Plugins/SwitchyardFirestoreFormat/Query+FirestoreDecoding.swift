package import Switchyard
package import SwitchyardBytes

/// Decodes a `StructuredQuery`, for bundles and the local servers.
extension Query {
    /// - Parameter parent: The resource name of the document that contains the collections, or of the root.
    /// - Throws: Also for a query that clients may not send, such as one with 31 alternatives.
    package init(
        firestore json: JSON, parent: String, in database: FirestoreDatabase
    ) throws(FirestoreFormatError) {
        let object = try json.members(of: "a query")
        guard object.members.allSatisfy({ Query.knownParts.contains($0.key) }) else {
            throw FirestoreFormatError("a query with an unknown part")
        }
        var query = Query(source: try Query.source(object, parent: parent, in: database))
        if let select = try object.object("select") {
            let fields = try select.array("fields").map { field throws(FirestoreFormatError) in
                try FieldPath(firestoreReference: field)
            }
            query.projection = fields.isEmpty ? nil : fields
        }
        let orders = try object.array("orderBy").map { order throws(FirestoreFormatError) in
            try Order(firestore: order)
        }
        guard !orders.dropLast().contains(where: \.field.isDocumentID) else {
            throw FirestoreFormatError("an order by another field after the document's name")
        }
        query.orders = orders
        query.offset = try Query.count("offset", in: object) ?? 0
        query.limit = try Query.count("limit", in: object).map { .first($0) }
        if let json = object.nonNull("where") {
            let filter = try Filter(firestore: json, in: database)
            query = query.where(filter)
        }
        query = query.removingImpliedOrders()
        if let (values, isBefore) = try Query.cursor("startAt", in: object, database, most: orders.count) {
            query = query.withStart(values, isInclusive: isBefore)
        }
        if let (values, isBefore) = try Query.cursor("endAt", in: object, database, most: orders.count) {
            query = query.withEnd(values, isInclusive: !isBefore)
        }
        let built = query
        self = try FirestoreFormatError.checking { () throws(StorageError) in try built.checked() }
    }

    private static let knownParts: Set = [
        "select", "from", "where", "orderBy", "startAt", "endAt", "offset", "limit",
    ]

    private static func source(
        _ object: JSONObject, parent: String, in database: FirestoreDatabase
    ) throws(FirestoreFormatError) -> Source {
        let from = try object.array("from")
        guard from.count == 1 else { throw FirestoreFormatError("a query of not exactly one collection") }
        let selector = try from[0].members(of: "the collection of a query")
        let id = try selector.requiredString("collectionId")
        let parent = try database.parent(ofName: parent)
        if try selector.bool("allDescendants") ?? false { return .group(id: id, under: parent) }
        return try FirestoreFormatError.checking { () throws(StorageError) in
            if let parent { return .collection(try parent.collection(id).checked()) }
            return .collection(try CollectionPath(validating: id))
        }
    }

    private static func cursor(
        _ key: String, in object: JSONObject, _ database: FirestoreDatabase, most: Int
    ) throws(FirestoreFormatError) -> (values: [DocumentValue], isBefore: Bool)? {
        guard let cursor = try object.object(key) else { return nil }
        let values = try DocumentValue.list(cursor, in: database)
        guard values.count <= most else {
            throw FirestoreFormatError("a cursor with more values than the query names orders")
        }
        return values.isEmpty ? nil : (values, try cursor.bool("before") ?? false)
    }

    /// A number, either bare or in the wrapper of some bundles and streams.
    private static func count(_ key: String, in object: JSONObject) throws(FirestoreFormatError) -> Int? {
        let number =
            if case .object(let wrapped)? = object.nonNull(key) { try wrapped.integer("value") } else {
                try object.integer(key)
            }
        guard let number else { return nil }
        guard number >= 0 else { throw FirestoreFormatError("a negative “\(key)”") }
        guard number <= Int(Int32.max) else { throw FirestoreFormatError("expected a number of 32 bits in “\(key)”") }
        return number
    }

    /// Removes orders that follow from the rest, so that the query equals the one an app would write.
    private func removingImpliedOrders() -> Query {
        let effective = effectiveOrders
        var query = self
        while !query.orders.isEmpty {
            var shorter = query
            shorter.orders.removeLast()
            guard shorter.effectiveOrders == effective else { break }
            query = shorter
        }
        return query
    }
}

extension Query.Order {
    fileprivate init(firestore json: JSON) throws(FirestoreFormatError) {
        let object = try json.members(of: "an order")
        guard let field = object.nonNull("field") else { throw FirestoreFormatError("an order without a field") }
        let path = try FieldPath(firestoreReference: field)
        switch try object.name("direction", among: ["DIRECTION_UNSPECIFIED", "ASCENDING", "DESCENDING"]) {
        case nil, "ASCENDING", "DIRECTION_UNSPECIFIED": self.init(path, .ascending)
        case "DESCENDING": self.init(path, .descending)
        default: throw FirestoreFormatError("an unknown direction")
        }
    }
}

extension FieldPath {
    /// From a `FieldReference`.
    package init(firestoreReference json: JSON) throws(FirestoreFormatError) {
        try self.init(firestore: try json.members(of: "a reference to a field").requiredString("fieldPath"))
    }
}

extension Filter {
    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "a filter")
        if let filter = try object.object("fieldFilter") {
            let name = try filter.name("op", among: Filter.operators)
            guard let operation = Operator.allCases.first(where: { $0.firestoreName == name }) else {
                throw FirestoreFormatError("an unknown operator")
            }
            guard let value = filter.nonNull("value") else { throw FirestoreFormatError("a filter without a value") }
            let field = try Filter.field(filter)
            let operand = try DocumentValue(firestore: value, in: database)
            guard !field.isDocumentID || Filter.namesDocuments(operand) else {
                throw FirestoreFormatError("a filter of the document's name by something else than a reference")
            }
            self = .comparison(field, operation, operand)
        } else if let filter = try object.object("unaryFilter") {
            let name = try filter.name("op", among: Filter.tests)
            guard let test = Test.allCases.first(where: { $0.firestoreName == name }) else {
                throw FirestoreFormatError("an unknown test")
            }
            self = .test(try Filter.field(filter), test)
        } else if let filter = try object.object("compositeFilter") {
            var parts: [Filter] = []
            for part in try filter.array("filters") { parts.append(try Filter(firestore: part, in: database)) }
            switch try filter.name("op", among: ["", "AND", "OR"]) {
            case "AND": self = .all(parts)
            case "OR": self = .any(parts)
            default: throw FirestoreFormatError("an unknown way to combine filters")
            }
        } else {
            throw FirestoreFormatError("a filter of an unknown kind")
        }
    }

    /// Sorted by number.
    private static let operators = [
        "", "LESS_THAN", "LESS_THAN_OR_EQUAL", "GREATER_THAN", "GREATER_THAN_OR_EQUAL", "EQUAL", "NOT_EQUAL",
        "ARRAY_CONTAINS", "IN", "ARRAY_CONTAINS_ANY", "NOT_IN",
    ]
    private static let tests = ["", "", "IS_NAN", "IS_NULL", "IS_NOT_NAN", "IS_NOT_NULL"]

    private static func namesDocuments(_ value: DocumentValue) -> Bool {
        switch value {
        case .reference: true
        case .array(let elements): elements.allSatisfy(namesDocuments)
        default: false
        }
    }

    private static func field(_ filter: JSONObject) throws(FirestoreFormatError) -> FieldPath {
        guard let field = filter.nonNull("field") else { throw FirestoreFormatError("a filter without a field") }
        return try FieldPath(firestoreReference: field)
    }
}

/// The steps that build a query. Each returns a new one; each but the trivial ones throws `.invalidArgument` with what to change.
extension Query {
    /// Only documents whose `field` compares to `value` like this, in addition to earlier conditions.
    ///
    /// Equality with null or NaN becomes the test for it, since neither is equal to anything.
    public func `where`(
        _ field: FieldPath, _ operation: Filter.Operator, _ value: some DocumentValueConvertible
    ) throws(StorageError) -> Query {
        try self.where(.comparison(field, operation, value.documentValue))
    }

    public func `where`(
        _ field: FieldPath, _ operation: Filter.Operator, _ value: DocumentValue
    ) throws(StorageError) -> Query {
        try self.where(.comparison(field, operation, value))
    }

    /// Only documents that pass `test`, in addition to earlier conditions.
    public func `where`(_ field: FieldPath, _ test: Filter.Test) throws(StorageError) -> Query {
        try self.where(.test(field, test))
    }

    /// Only documents that match `filter`, in addition to earlier conditions.
    public func `where`(_ filter: Filter) throws(StorageError) -> Query {
        guard start == nil, end == nil else {
            throw .invalid("Add conditions before cursors: a condition can change the order that a cursor stands in.")
        }
        let checked = try QueryRules.normalized(filter, in: source)
        var copy = self
        switch (self.filter, checked) {
        case (nil, _): copy.filter = checked
        case (.all(let earlier)?, .all(let added)): copy.filter = .all(earlier + added)
        case (.all(let earlier)?, _): copy.filter = .all(earlier + [checked])
        case (let earlier?, .all(let added)): copy.filter = .all([earlier] + added)
        case (let earlier?, _): copy.filter = .all([earlier, checked])
        }
        try QueryRules.check(copy)
        return copy
    }

    /// Sorted by `field`, after earlier orders. Documents without the field are no results.
    public func ordered(by field: FieldPath, _ direction: Direction = .ascending) throws(StorageError) -> Query {
        guard start == nil, end == nil else { throw .invalid("Add all orders before the first cursor.") }
        guard !orders.contains(where: { $0.field == field }) else {
            throw .invalid("The query is already ordered by “\(field)”; remove one of the two.")
        }
        var copy = self
        copy.orders.append(Order(field, direction))
        return copy
    }

    /// At most the first `count` results.
    public func limited(to count: Int) throws(StorageError) -> Query {
        guard count > 0, count <= Int(Int32.max) else {
            throw .invalid("A limit must lie between 1 and \(Int32.max), this one is \(count).")
        }
        var copy = self
        copy.limit = .first(count)
        return copy
    }

    /// At most the last `count` results, still in the query's order. Needs an explicit order.
    public func limited(toLast count: Int) throws(StorageError) -> Query {
        guard count > 0, count <= Int(Int32.max) else {
            throw .invalid("A limit must lie between 1 and \(Int32.max), this one is \(count).")
        }
        guard !orders.isEmpty else { throw .invalid("Add an order before limiting to the last results.") }
        guard offset == 0 else { throw .invalid("An offset cannot be combined with a limit to the last results.") }
        var copy = self
        copy.limit = .last(count)
        return copy
    }

    /// Leaves out the first `count` results. Servers read (and charge) them all the same; cursors are cheaper.
    public func skipping(_ count: Int) throws(StorageError) -> Query {
        guard count >= 0, count <= Int(Int32.max) else {
            throw .invalid("An offset must lie between 0 and \(Int32.max), this one is \(count).")
        }
        if case .last = limit { throw .invalid("An offset cannot be combined with a limit to the last results.") }
        var copy = self
        copy.offset = count
        return copy
    }

    /// Only these fields of each document. Names and times always come along.
    public func selecting(_ fields: FieldPath...) throws(StorageError) -> Query { try selecting(fields) }

    public func selecting(_ fields: [FieldPath]) throws(StorageError) -> Query {
        guard !fields.isEmpty else { throw .invalid("A projection names at least one field.") }
        var copy = self
        copy.projection = fields
        return copy
    }

    /// Results from this position of the order on, those equal to it included.
    ///
    /// Fewer values than orders are fine: then all documents equal in those count as equal to the position.
    public func starting(at values: DocumentValue...) throws(StorageError) -> Query {
        try withStart(values, isInclusive: true)
    }
    /// Results after this position of the order.
    public func starting(after values: DocumentValue...) throws(StorageError) -> Query {
        try withStart(values, isInclusive: false)
    }
    /// Results up to this position of the order, those equal to it included.
    public func ending(at values: DocumentValue...) throws(StorageError) -> Query {
        try withEnd(values, isInclusive: true)
    }
    /// Results before this position of the order.
    public func ending(before values: DocumentValue...) throws(StorageError) -> Query {
        try withEnd(values, isInclusive: false)
    }

    /// Results from `document` on, itself included. The exact position, also among documents that are equal in the order.
    public func starting(at document: DocumentSnapshot) throws(StorageError) -> Query {
        try at(document) { query, values throws(StorageError) in try query.withStart(values, isInclusive: true) }
    }
    /// Results after `document`; for the next page of a list.
    public func starting(after document: DocumentSnapshot) throws(StorageError) -> Query {
        try at(document) { query, values throws(StorageError) in try query.withStart(values, isInclusive: false) }
    }
    public func ending(at document: DocumentSnapshot) throws(StorageError) -> Query {
        try at(document) { query, values throws(StorageError) in try query.withEnd(values, isInclusive: true) }
    }
    public func ending(before document: DocumentSnapshot) throws(StorageError) -> Query {
        try at(document) { query, values throws(StorageError) in try query.withEnd(values, isInclusive: false) }
    }

    package func withStart(_ values: [DocumentValue], isInclusive: Bool) throws(StorageError) -> Query {
        var copy = self
        copy.start = try QueryRules.cursor(values, isInclusive: isInclusive, in: self)
        return copy
    }

    package func withEnd(_ values: [DocumentValue], isInclusive: Bool) throws(StorageError) -> Query {
        var copy = self
        copy.end = try QueryRules.cursor(values, isInclusive: isInclusive, in: self)
        return copy
    }

    private func at(
        _ document: DocumentSnapshot, _ place: (Query, [DocumentValue]) throws(StorageError) -> Query
    ) throws(StorageError) -> Query {
        guard let data = document.data else {
            throw .invalid("A cursor needs a document that exists; “\(document.path)” does not.")
        }
        guard QueryEvaluator(self).isInSource(document.path) else {
            throw .invalid("A cursor needs a document of the query's own collection; “\(document.path)” is elsewhere.")
        }
        var values: [DocumentValue] = []
        for order in effectiveOrders {
            if order.field.isDocumentID {
                values.append(document.path.documentValue)
            } else if let value = data[order.field] {
                if case .timestamp(let time) = value, time.isEstimate {
                    throw .invalid(
                        "The cursor's field “\(order.field)” still waits for its server time; try once it is set.")
                }
                values.append(value)
            } else {
                throw .invalid("The cursor's document has no field “\(order.field)”, by which the query is ordered.")
            }
        }
        return try place(self, values)
    }
}

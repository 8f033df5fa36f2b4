/// What the steps of ``QuerySteps`` do to a query. Each throws `.invalidArgument` with what to change.
extension Query {
    mutating func add(_ filter: Filter) throws(StorageError) {
        guard start == nil, end == nil else {
            throw .invalid("Add conditions before cursors: a condition can change the order that a cursor stands in.")
        }
        let checked = try QueryRules.normalized(filter, in: source)
        switch (self.filter, checked) {
        case (nil, _): self.filter = checked
        case (.all(let earlier)?, .all(let added)): self.filter = .all(earlier + added)
        case (.all(let earlier)?, _): self.filter = .all(earlier + [checked])
        case (let earlier?, .all(let added)): self.filter = .all([earlier] + added)
        case (let earlier?, _): self.filter = .all([earlier, checked])
        }
        try QueryRules.check(self)
    }

    mutating func add(_ order: Order) throws(StorageError) {
        guard start == nil, end == nil else { throw .invalid("Add all orders before the first cursor.") }
        guard !orders.contains(where: { $0.field == order.field }) else {
            throw .invalid("The query is already ordered by “\(order.field)”; remove one of the two.")
        }
        orders.append(order)
        try QueryRules.check(self)
    }

    mutating func limit(to limit: Limit) throws(StorageError) {
        guard limit.count > 0, limit.count <= Int(Int32.max) else {
            throw .invalid("A limit must lie between 1 and \(Int32.max), this one is \(limit.count).")
        }
        if case .last = limit {
            guard !orders.isEmpty else { throw .invalid("Add an order before limiting to the last results.") }
            guard offset == 0 else { throw Query.offsetBeforeLast }
        }
        self.limit = limit
    }

    mutating func skip(_ count: Int) throws(StorageError) {
        guard count >= 0, count <= Int(Int32.max) else {
            throw .invalid("An offset must lie between 0 and \(Int32.max), this one is \(count).")
        }
        if case .last = limit { throw Query.offsetBeforeLast }
        offset = count
    }

    private static let offsetBeforeLast = StorageError.invalid(
        "An offset cannot be combined with a limit to the last results.")

    mutating func project(to fields: [FieldPath]) throws(StorageError) {
        guard !fields.isEmpty else { throw .invalid("A projection names at least one field.") }
        projection = fields
    }

    mutating func start(at values: [DocumentValue], _ isInclusive: Bool) throws(StorageError) {
        start = try QueryRules.cursor(values, isInclusive: isInclusive, in: self)
    }

    mutating func end(at values: [DocumentValue], _ isInclusive: Bool) throws(StorageError) {
        end = try QueryRules.cursor(values, isInclusive: isInclusive, in: self)
    }

    package func withStart(_ values: [DocumentValue], isInclusive: Bool) -> Query {
        taking { copy throws(StorageError) in try copy.start(at: values, isInclusive) }
    }

    package func withEnd(_ values: [DocumentValue], isInclusive: Bool) -> Query {
        taking { copy throws(StorageError) in try copy.end(at: values, isInclusive) }
    }

    /// The position of `document` in the order.
    func position(of document: DocumentSnapshot) throws(StorageError) -> [DocumentValue] {
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
                        "The cursor's field “\(order.field)” is still waiting for its server time. Try again once it is set."
                    )
                }
                values.append(value)
            } else {
                throw .invalid("The cursor's document has no field “\(order.field)”, by which the query is ordered.")
            }
        }
        return values
    }
}

/// Anything that can be narrowed like a ``Query``: queries, and handles of collections and queries.
///
/// Each step returns a new value, and none throws: an invalid step is kept as ``Query/mistake``, and the first operation
/// fails with it.
public protocol QuerySteps {
    /// The result of a step: a query, or a handle of one.
    associatedtype Narrowed

    /// This one with its query changed by `step`.
    func narrowed(by step: (Query) -> Query) -> Narrowed
}

extension Query: QuerySteps {
    public typealias Narrowed = Query
    public func narrowed(by step: (Query) -> Query) -> Query { step(self) }
}

extension QuerySteps {
    /// Only documents whose `field` compares to `value` like this, in addition to earlier conditions.
    ///
    /// Equality with null or NaN becomes the test for it, since neither is equal to anything.
    public func `where`(
        _ field: FieldPath, _ operation: Filter.Operator, _ value: some DocumentValueConvertible
    ) -> Narrowed {
        self.where(.comparison(field, operation, value.documentValue))
    }

    public func `where`(_ field: FieldPath, _ operation: Filter.Operator, _ value: DocumentValue) -> Narrowed {
        self.where(.comparison(field, operation, value))
    }

    /// Only documents that pass `test`, in addition to earlier conditions.
    public func `where`(_ field: FieldPath, _ test: Filter.Test) -> Narrowed {
        self.where(.test(field, test))
    }

    /// Only documents that match `filter`, in addition to earlier conditions.
    public func `where`(_ filter: Filter) -> Narrowed {
        narrowed { query in query.taking { copy throws(StorageError) in try copy.add(filter) } }
    }

    /// Sorted by `field`, after earlier orders. Documents without the field are left out.
    public func ordered(by field: FieldPath, _ direction: Query.Direction = .ascending) -> Narrowed {
        narrowed { query in query.taking { copy throws(StorageError) in try copy.add(Query.Order(field, direction)) } }
    }

    /// At most the first `count` results.
    public func limited(to count: Int) -> Narrowed {
        narrowed { query in query.taking { copy throws(StorageError) in try copy.limit(to: .first(count)) } }
    }

    /// At most the last `count` results, still in the query's order. Needs an explicit order.
    public func limited(toLast count: Int) -> Narrowed {
        narrowed { query in query.taking { copy throws(StorageError) in try copy.limit(to: .last(count)) } }
    }

    /// Leaves out the first `count` results. Servers still read (and charge for) them; cursors are cheaper.
    public func skipping(_ count: Int) -> Narrowed {
        narrowed { query in query.taking { copy throws(StorageError) in try copy.skip(count) } }
    }

    /// Only these fields of each document. Names and times are always included.
    public func selecting(_ fields: FieldPath...) -> Narrowed { selecting(fields) }

    public func selecting(_ fields: [FieldPath]) -> Narrowed {
        narrowed { query in query.taking { copy throws(StorageError) in try copy.project(to: fields) } }
    }

    /// Results from this position of the order on, including those equal to it.
    ///
    /// You may give fewer values than orders: then all documents equal in those count as equal to the position.
    public func starting(at values: DocumentValue...) -> Narrowed {
        narrowed { $0.withStart(values, isInclusive: true) }
    }
    /// Results after this position of the order.
    public func starting(after values: DocumentValue...) -> Narrowed {
        narrowed { $0.withStart(values, isInclusive: false) }
    }
    /// Results up to this position of the order, including those equal to it.
    public func ending(at values: DocumentValue...) -> Narrowed {
        narrowed { $0.withEnd(values, isInclusive: true) }
    }
    /// Results before this position of the order.
    public func ending(before values: DocumentValue...) -> Narrowed {
        narrowed { $0.withEnd(values, isInclusive: false) }
    }

    /// Results from `document` on, inclusive. The position is exact, even among documents that are equal in the order.
    public func starting(at document: DocumentSnapshot) -> Narrowed {
        narrowed { query in
            query.taking { copy throws(StorageError) in try copy.start(at: copy.position(of: document), true) }
        }
    }
    /// Results after `document`; for the next page of a list.
    public func starting(after document: DocumentSnapshot) -> Narrowed {
        narrowed { query in
            query.taking { copy throws(StorageError) in try copy.start(at: copy.position(of: document), false) }
        }
    }
    public func ending(at document: DocumentSnapshot) -> Narrowed {
        narrowed { query in
            query.taking { copy throws(StorageError) in try copy.end(at: copy.position(of: document), true) }
        }
    }
    public func ending(before document: DocumentSnapshot) -> Narrowed {
        narrowed { query in
            query.taking { copy throws(StorageError) in try copy.end(at: copy.position(of: document), false) }
        }
    }
}

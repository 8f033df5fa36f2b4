// What other libraries call things. The compiler answers with the call to use; `.ci/names` checks that it does.
//
// No body ever runs: the compiler refuses every call, and as members of an extension these witness no requirement. `.ci/names`
// fails if one of them can be called.

extension StorageClient {
    @available(*, unavailable, message: "use setDocument(_:_:), or mergeDocument(_:_:) to keep other fields")
    public func setData(_ fields: [String: Any], at path: Any, merge: Bool = false) { fatalError() }

    @available(*, unavailable, message: "use document(_:), or collection(_:).document(_:).get(as:) for a type of yours")
    public func getDocument(_ path: Any) -> DocumentSnapshot { fatalError() }
    @available(*, unavailable, message: "use document(_:), or collection(_:).document(_:).get(as:) for a type of yours")
    public func getDocument(at path: Any) -> DocumentSnapshot { fatalError() }

    @available(*, unavailable, message: "use documents(_:) with a Query, or collection(_:).documents()")
    public func getDocuments(_ query: Any) -> QuerySnapshot { fatalError() }
    @available(*, unavailable, message: "use documents(_:) with a Query, or collection(_:).documents()")
    public func getDocuments(in collection: Any) -> QuerySnapshot { fatalError() }

    @available(
        *, unavailable, message: "use snapshots(of:) with a path: for try await document in storage.snapshots(of: path)"
    )
    public func documentStream(_ path: Any) { fatalError() }
    @available(
        *, unavailable, message: "use snapshots(of:) with a path: for try await document in storage.snapshots(of: path)"
    )
    public func documentStream(at path: Any) { fatalError() }

    @available(*, unavailable, message: "use snapshots(of:) with a Query, or collection(_:).stream()")
    public func listenToCollection(_ path: Any) { fatalError() }
    @available(*, unavailable, message: "use snapshots(of:) with a Query, or collection(_:).stream()")
    public func listenToCollection(at path: Any) { fatalError() }
}

extension DocumentHandle {
    @available(*, unavailable, message: "use set(_:), or merge(_:) to keep other fields")
    public func setData(_ fields: [String: Any], merge: Bool = false) { fatalError() }
    @available(*, unavailable, message: "use set(_:) of a typed document: collection(_:of:).document(_:).set(value)")
    public func setData(from value: Any, merge: Bool = false) { fatalError() }

    @available(*, unavailable, message: "use update(_:)")
    public func updateData(_ fields: [String: Any]) { fatalError() }

    @available(*, unavailable, message: "use get()")
    public func getDocument() -> DocumentSnapshot { fatalError() }
    @available(*, unavailable, message: "use get(as:)")
    public func getDocument<Value>(as type: Value.Type) -> Value { fatalError() }

    @available(
        *, unavailable, message: "use stream(): for try await snapshot in document.stream(); leaving the loop ends it"
    )
    public func addSnapshotListener(
        includeMetadataChanges: Bool = false, _ listener: (DocumentSnapshot?, (any Error)?) -> Void
    ) { fatalError() }
}

extension DocumentQuerySource {
    @available(*, unavailable, message: "use documents()")
    public func getDocuments() -> QuerySnapshot { fatalError() }

    @available(
        *, unavailable, message: "use stream(): for try await snapshot in query.stream(); leaving the loop ends it"
    )
    public func addSnapshotListener(
        includeMetadataChanges: Bool = false, _ listener: (QuerySnapshot?, (any Error)?) -> Void
    ) { fatalError() }
}

extension CollectionHandle {
    @available(*, unavailable, message: "use add(_:)")
    public func addDocument(data: [String: Any]) -> DocumentHandle { fatalError() }
    @available(*, unavailable, message: "use add(_:) of a typed collection: collection(_:of:).add(value)")
    public func addDocument(from value: Any) -> DocumentHandle { fatalError() }
}

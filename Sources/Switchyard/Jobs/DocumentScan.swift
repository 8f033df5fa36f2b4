/// A place in the results of a query, to go on from: it can be kept as JSON, by a job that may be stopped.
public struct ScanPlace: Sendable, Hashable, Codable {
    let values: [DocumentValue]
}

extension StorageClient {
    /// Does something with each result of a query that may have millions, a page in memory at a time.
    ///
    /// ```swift
    /// try await storage.forEachDocument(Query(in: "orders"), parallel: 8, from: try kept()) { order in
    ///     try await archive(order)
    /// } reached: { place in
    ///     try await keep(place)
    /// }
    /// ```
    /// What is added or removed meanwhile shifts nothing; it is seen or not by where it stands.
    ///
    /// - Parameters:
    ///   - query: Read from the server, in its own order or else by the names of the documents.
    ///   - pageSize: How many documents are read at once.
    ///   - parallel: How many are worked on at the same time.
    ///   - place: Where an earlier run has stopped; `nil` for the beginning.
    ///   - body: Its first failure ends the whole and is thrown, once what is under way has ended.
    ///   - reached: Called after each page, with the place behind it: everything before is done, so that a run from there does
    ///     nothing again but what was begun of the next page.
    public func forEachDocument(
        _ query: Query, pageSize: Int = 500, parallel: Int = 1, from place: ScanPlace? = nil,
        _ body: @escaping @Sendable (DocumentSnapshot) async throws -> Void,
        reached: (ScanPlace) async throws -> Void = { _ in }
    ) async throws {
        var query = query
        if let place { query = query.continued(after: place) }
        let worker = PageWorker(parallel: parallel, body)
        // The next page is read while this one is worked on.
        var (page, rest) = try await Self.next(pages(of: query, size: pageSize, from: .server).makeAsyncIterator())
        while let present = page {
            let following = rest
            async let next = Self.next(following)
            try await worker.work(on: present.documents)
            if let last = present.documents.last { try await reached(ScanPlace(values: query.position(of: last))) }
            (page, rest) = try await next
        }
    }

    private static func next(
        _ pages: DocumentPages.AsyncIterator
    ) async throws(StorageError) -> (QuerySnapshot?, DocumentPages.AsyncIterator) {
        var pages = pages
        return (try await pages.next(), pages)
    }
}

extension Query {
    fileprivate func continued(after place: ScanPlace) -> Query {
        taking { copy throws(StorageError) in try copy.start(at: place.values, false) }
    }
}

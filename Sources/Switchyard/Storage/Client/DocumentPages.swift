/// The results of a query, page by page; each page is read on demand.
///
/// ```swift
/// for try await page in storage.pages(of: query, size: 50) { show(page.documents) }
/// ```
/// A page begins after the last document of the previous one, so documents added or removed meanwhile shift nothing. No page
/// is empty, except the single page of an empty result.
public struct DocumentPages: AsyncSequence, Sendable {
    public typealias Element = QuerySnapshot
    public typealias Failure = StorageError

    let storage: any StorageClient
    let query: Query
    let size: Int
    let source: ReadSource

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let pages: DocumentPages
        private var last: DocumentSnapshot?
        private var delivered = 0
        private var isAtEnd = false

        fileprivate init(pages: DocumentPages) { self.pages = pages }

        /// - Throws: `.invalidArgument` for a size below 1, a query limited to its last results, or one that does not select
        ///   the fields by which it is ordered. After a failure, you can try the same page again.
        public mutating func next() async throws(StorageError) -> QuerySnapshot? {
            try await next(isolation: nil)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StorageError) -> QuerySnapshot? {
            guard !isAtEnd else { return nil }
            guard !Task.isCancelled else { throw StorageError(.cancelled, "The call was cancelled.") }
            let page = try nextQuery()
            let snapshot = try await pages.storage.documents(page, from: pages.source)
            delivered += snapshot.count
            isAtEnd = snapshot.count < (page.limit?.count ?? 0) || pages.query.limit?.count == delivered
            guard let last = snapshot.documents.last else { return self.last == nil ? snapshot : nil }
            self.last = last
            return snapshot
        }

        private func nextQuery() throws(StorageError) -> Query {
            guard pages.size > 0 else { throw .invalid("A page has at least one document.") }
            let query = try pages.query.checked()
            if case .last = query.limit {
                throw .invalid("Pages cannot be made of a limit to the last results; reverse the order instead.")
            }
            if let fields = query.projection {
                for order in query.effectiveOrders where !order.field.isDocumentID {
                    guard fields.contains(where: { order.field.isWithin($0) }) else {
                        throw .invalid("Pages need the fields they are ordered by: select “\(order.field)” too.")
                    }
                }
            }
            let left = query.limit.map { $0.count - delivered } ?? .max
            var page = query.limited(to: Swift.min(pages.size, left))
            if let last {
                page = page.starting(after: last)
                page.offset = 0
            }
            return page
        }
    }
}

extension StorageClient {
    /// The results of `query` in pages of `size` documents.
    public func pages(of query: Query, size: Int, from source: ReadSource = .standard) -> DocumentPages {
        DocumentPages(storage: self, query: query, size: size, source: source)
    }
}

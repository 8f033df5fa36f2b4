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
        private var hasDelivered = false
        private var isAtEnd = false
        /// The factor by which a request exceeds a page, while the server's answers contain no document.
        private var width = 1

        fileprivate init(pages: DocumentPages) { self.pages = pages }

        /// - Throws: `.invalidArgument` for a size below 1, a query limited to its last results, or one that does not select
        ///   the fields by which it is ordered. After a failure, you can try the same page again.
        public mutating func next() async throws(StorageError) -> QuerySnapshot? {
            try await next(isolation: nil)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StorageError) -> QuerySnapshot? {
            while !isAtEnd {
                guard !Task.isCancelled else { throw StorageError(.cancelled, "The call was cancelled.") }
                let size = try nextSize()
                let page = try nextQuery(size)
                let found = try await pages.storage.documents(page, from: pages.source)
                let snapshot = found.count > size ? found.limited(to: size) : found
                guard let last = snapshot.documents.last else {
                    if let cut = found.cut {
                        step(over: cut)
                        continue
                    }
                    isAtEnd = true
                    return hasDelivered ? nil : snapshot
                }
                let isWhole = snapshot.count == found.count
                self.last = isWhole ? found.cut?.last ?? last : last
                width = 1
                hasDelivered = true
                delivered += snapshot.count
                isAtEnd =
                    (isWhole && found.cut == nil && found.count < page.limit?.count ?? 0)
                    || pages.query.limit?.count == delivered
                return snapshot
            }
            return nil
        }

        /// Continues behind an answer that was cut off and contains no document to show.
        private mutating func step(over cut: QueryCut) {
            if let edge = cut.last, last != nil || pages.query.offset == 0 {
                last = edge
            } else {
                width = Swift.min(width * 2, Int(Int32.max))
            }
        }

        private func nextSize() throws(StorageError) -> Int {
            guard pages.size > 0 else { throw .invalid("The page size is \(pages.size); it must be at least 1.") }
            return Swift.min(pages.size, pages.query.limit.map { $0.count - delivered } ?? .max)
        }

        private func nextQuery(_ size: Int) throws(StorageError) -> Query {
            let query = try pages.query.checked()
            if case .last = query.limit {
                throw .invalid(
                    "A query limited to its last results has no pages; reverse the order, and limit it to the first.")
            }
            if let fields = query.projection {
                for order in query.effectiveOrders where !order.field.isDocumentID {
                    guard fields.contains(where: { order.field.isWithin($0) }) else {
                        throw .invalid("Pages need the fields they are ordered by: select “\(order.field)” too.")
                    }
                }
            }
            let (count, isTooMany) = size.multipliedReportingOverflow(by: width)
            // A size that is none is the query's mistake.
            let wider = isTooMany ? Int(Int32.max) : Swift.min(count, Int(Int32.max))
            var page = query.limited(to: width == 1 ? size : wider)
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

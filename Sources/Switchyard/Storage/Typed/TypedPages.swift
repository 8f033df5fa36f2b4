/// The results of a typed query, page by page; each page is read on demand.
///
/// ```swift
/// for try await page in todos.where(\.done, .equal, true).pages(size: 50) { show(page.rows) }
/// ```
/// The pages are those of ``DocumentPages``.
public struct TypedPages<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = TypedSnapshot<Value>
    public typealias Failure = StorageError

    let pages: DocumentPages
    let mismatch: MismatchHandling
    let origin: RowOrigin<Value>

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let pages: TypedPages
        private var base: DocumentPages.AsyncIterator

        fileprivate init(_ pages: TypedPages) {
            self.pages = pages
            base = pages.pages.makeAsyncIterator()
        }

        public mutating func next() async throws(StorageError) -> TypedSnapshot<Value>? {
            try await next(isolation: nil)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StorageError) -> TypedSnapshot<Value>? {
            guard let page = try await base.next(isolation: actor) else { return nil }
            return try TypedSnapshot(page, pages.mismatch, pages.origin)
        }
    }
}

extension TypedQuerySource {
    /// The results in pages of `size` documents, each read on demand.
    public func pages(
        size: Int, from source: ReadSource = .standard, onMismatch: MismatchHandling = .fail
    ) -> TypedPages<Value> {
        TypedPages(
            pages: storage.pages(of: query, size: size, from: source), mismatch: onMismatch, origin: origin)
    }

    /// Calls `body` for each result, reading a page at a time: `old.forEach(parallel: 8) { try await $0.delete() }`.
    ///
    /// - Parameters:
    ///   - parallel: How many results are processed at the same time.
    ///   - pageSize: How many documents are read at once.
    ///   - source: Where they are read.
    ///   - onMismatch: What happens to documents that do not fit the type.
    ///   - body: Its first error ends the iteration. It is thrown after the calls in progress have ended.
    public func forEach(
        parallel: Int = 1, pageSize: Int = 100, from source: ReadSource = .standard,
        onMismatch: MismatchHandling = .fail,
        _ body: @escaping @Sendable (TypedSnapshot<Value>.Row) async throws -> Void
    ) async throws {
        let pages = pages(size: pageSize, from: source, onMismatch: onMismatch)
        try await PageWorker(parallel: parallel, body).run(pages) { $0.rows }
    }
}

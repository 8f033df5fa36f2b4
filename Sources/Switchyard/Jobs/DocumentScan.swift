/// A position in the results of a query from which a later run can continue. Store it as JSON in a job that may be stopped.
public struct ScanPlace: Sendable, Hashable, Codable {
    /// What is left, in the query's order.
    var parts: [ScanPart]
}

/// A part of a query's results that is read from beginning to end.
struct ScanPart: Sendable, Hashable, Codable {
    /// Where it begins; `nil` for the query's own beginning.
    private var start: [DocumentValue]?
    /// Whether ``start`` is the last finished document, instead of the next one.
    private var isBehind = false
    /// The first document of the next part; `nil` for the query's own end.
    private let end: [DocumentValue]?
    /// The number of finished documents.
    private var done = 0

    init(from start: StoragePath? = nil, to end: StoragePath? = nil) {
        self.start = start.map { [$0.documentValue] }
        self.end = end.map { [$0.documentValue] }
    }

    mutating func move(behind position: [DocumentValue], after count: Int) {
        (start, isBehind) = (position, true)
        done += count
    }

    /// The unfinished rest of this part as a query; `nil` if there is none.
    func rest(of query: Query) -> Query? {
        query.limit.map { $0.count <= done } == true ? nil : cut(query)
    }

    private func cut(_ query: Query) -> Query {
        var rest = query
        if let start { rest = rest.withStart(start, isInclusive: !isBehind) }
        if let end { rest = rest.withEnd(end, isInclusive: false) }
        guard done > 0 else { return rest }
        rest.offset = 0
        if case .first(let count) = query.limit { rest = rest.limited(to: count - done) }
        return rest
    }
}

extension StorageClient {
    /// Calls `body` for each result of a query that may have millions, keeping only a few pages in memory.
    ///
    /// ```swift
    /// try await storage.forEachDocument(Query(in: "orders"), parallel: 8, from: try kept()) { order in
    ///     try await archive(order)
    /// } reached: { place in
    ///     try await keep(place)
    /// }
    /// ```
    /// Documents that are added or removed in the meantime do not shift the others; whether the scan meets them depends on their
    /// position.
    ///
    /// If `parallel` is above one, the query is a collection group without conditions, ordered by name, and the backend can
    /// divide it (see ``dividers(ofGroup:into:)``), parts are read concurrently, so documents come in no particular order.
    ///
    /// - Parameters:
    ///   - query: Read from the server in its own order, or by document name if it has none.
    ///   - pageSize: How many documents to read at once.
    ///   - parallel: How many calls of `body` run at the same time.
    ///   - place: Where an earlier run stopped; `nil` for the beginning.
    ///   - body: Its first error ends the scan and is thrown once the calls in flight have ended.
    ///   - reached: Called after each page with the position of the rest. Everything before it is done, so a run from there
    ///     repeats only what was begun of later pages.
    public func forEachDocument(
        _ query: Query, pageSize: Int = 500, parallel: Int = 1, from place: ScanPlace? = nil,
        _ body: @escaping @Sendable (DocumentSnapshot) async throws -> Void,
        reached: (ScanPlace) async throws -> Void = { _ in }
    ) async throws {
        let parallel = max(1, parallel)
        var parts = place?.parts ?? [ScanPart()]
        if place == nil, parallel > 1, case .group(let id, nil) = query.source, query.isWholeCollection,
            query.effectiveOrders.allSatisfy({ $0.direction == .ascending })
        {
            // More parts than workers, since some are larger than others.
            let places = try await dividers(ofGroup: id, into: parallel * ScanRun.partsForEach)
            parts = zip([nil] + places, places + [nil]).map { ScanPart(from: $0, to: $1) }
        }
        try await ScanRun(storage: self, query: query, pageSize: pageSize, body: body).run(parts, parallel, reached)
    }
}

/// One run through the rest of a query: several parts at a time, each processing one page while reading the next.
private struct ScanRun: Sendable {
    static let partsForEach = 4

    let storage: any StorageClient
    let query: Query
    let pageSize: Int
    let body: @Sendable (DocumentSnapshot) async throws -> Void

    private typealias Pages = DocumentPages.AsyncIterator

    private enum Event: Sendable {
        /// The result of reading the next page of a part.
        case read(Int, Result<(QuerySnapshot, Pages)?, any Error>)
        case worked(Int, QuerySnapshot)
    }

    /// How far a part is.
    private struct Progress {
        var next: Result<(QuerySnapshot, Pages)?, any Error>?
        var isWorking = false
    }

    func run(
        _ parts: [ScanPart], _ parallel: Int, _ reached: (ScanPlace) async throws -> Void
    ) async throws {
        var left = parts.map(Optional.some)
        let width = min(parallel, parts.count)
        let worker = PageWorker(parallel: parallel / max(width, 1), body)
        try await withThrowingTaskGroup(of: Event.self) { group in
            var waiting = parts.indices[...]
            var progress: [Int: Progress] = [:]

            func read(_ index: Int, _ pages: Pages) {
                group.addTask { .read(index, await Self.next(pages)) }
            }
            func begin() {
                while progress.count < width, let index = waiting.popFirst() {
                    guard let rest = left[index]?.rest(of: query) else {
                        left[index] = nil
                        continue
                    }
                    progress[index] = Progress()
                    read(index, storage.pages(of: rest, size: pageSize, from: .server).makeAsyncIterator())
                }
            }
            begin()
            while let event = try await group.next() {
                let index: Int
                switch event {
                case .read(let part, let result):
                    index = part
                    progress[part]?.next = result
                case .worked(let part, let page):
                    index = part
                    progress[part]?.isWorking = false
                    if let last = page.documents.last {
                        left[part]?.move(behind: try query.position(of: last), after: page.count)
                        try await reached(ScanPlace(parts: left.compactMap(\.self)))
                    }
                }
                // A page is processed after the previous one is done.
                guard let current = progress[index], !current.isWorking, let next = current.next else { continue }
                guard let (page, rest) = try next.get() else {
                    progress[index] = nil
                    left[index] = nil
                    begin()
                    continue
                }
                progress[index] = Progress(next: nil, isWorking: true)
                read(index, rest)
                group.addTask {
                    try await worker.work(on: page.documents)
                    return .worked(index, page)
                }
            }
        }
    }

    private static func next(_ pages: Pages) async -> Result<(QuerySnapshot, Pages)?, any Error> {
        var pages = pages
        do throws(StorageError) {
            return .success(try await pages.next().map { ($0, pages) })
        } catch {
            return .failure(error)
        }
    }
}

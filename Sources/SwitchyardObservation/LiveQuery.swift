public import Observation
public import Switchyard

/// The live results of a query for a screen.
///
/// ```swift
/// @State private var open = LiveQuery(todos.where(\.done, .equal, false).ordered(by: \.created))
///
/// List(open.rows) { row in Text(row.value.title).opacity(row.isPending ? 0.5 : 1) }
/// ```
/// The stream starts when the object is first read, and ends with the object. A write shows up at once, with
/// `Row.isPending` until the server has confirmed it.
@MainActor @Observable
public final class LiveQuery<Value: Sendable> {
    public typealias Row = TypedSnapshot<Value>.Row

    private struct State {
        var phase = LivePhase.loading
        var rows: [Row] = []
        var changes: [DocumentChange] = []
        var mismatches: [StorageError] = []
        var hasPendingWrites = false
        var isFromCache = false
        var serverError: StorageError?
        var hasMore = false
        /// The number of documents in the stream, including those that are left out.
        var found = 0
    }

    private var state = State()
    /// Why the last edit failed, after it was undone; `nil` again with the next one.
    public private(set) var editError: StorageError?
    @ObservationIgnored private var query: TypedQuery<Value>
    @ObservationIgnored private let pageSize: Int?
    @ObservationIgnored private var limit: Int?
    /// Whether the rows are still those of the previous query.
    @ObservationIgnored private var showsOthers = false
    @ObservationIgnored private let mismatch: MismatchHandling
    @ObservationIgnored private var following: Following?
    /// Makes a change to what is shown, for example within an animation.
    @ObservationIgnored var apply: @MainActor (_ change: @MainActor () -> Void) -> Void = { change in change() }

    /// - Parameters:
    ///   - query: What to show: a typed collection, or a query over one.
    ///   - pageSize: How many results to show at first, and how many more with each ``loadMore()``; `nil` shows all. A limit of
    ///     the query itself is never exceeded; with a limit to the last results, pages begin at the end.
    ///   - onMismatch: What happens to documents that do not fit the type. By default they are left out, and ``mismatches``
    ///     has the reasons, so one bad document does not empty a screen.
    public init(
        _ query: some TypedQuerySource<Value>, pageSize: Int? = nil, onMismatch: MismatchHandling = .skip
    ) {
        self.query = query.typed
        self.pageSize = pageSize
        limit = pageSize
        mismatch = onMismatch
    }

    /// A query that gets its client later, by ``connect(to:)``. Until then, reading fails with `.clientNotSet`.
    public convenience init(
        _ query: UnboundQuery<Value>, pageSize: Int? = nil, onMismatch: MismatchHandling = .skip
    ) {
        self.init(query.in(NoBackend.storage), pageSize: pageSize, onMismatch: onMismatch)
    }

    // MARK: What there is to see

    public var phase: LivePhase { watched.phase }
    /// The results in the query's order.
    public var rows: [Row] { watched.rows }
    public var values: [Value] { watched.rows.map(\.value) }
    /// The last changes to the rows, for your own animations: applied in order to the previous rows, they give ``rows``. For
    /// list animations, rows are identifiable.
    public var changes: [DocumentChange] { watched.changes }
    /// Why documents are left out.
    public var mismatches: [StorageError] { watched.mismatches }
    /// Whether the rows include writes that the server has not confirmed.
    public var hasPendingWrites: Bool { watched.hasPendingWrites }
    /// Whether the server has not confirmed that the rows are its current state; `false` while nothing is known.
    public var isFromCache: Bool { watched.isFromCache }
    /// Whether there may be more results; see ``loadMore()``.
    public var hasMore: Bool { watched.hasMore }

    /// Why the stream has failed, as ``phase`` says; ``retry()`` starts over.
    public var error: StorageError? { watched.phase.error }

    /// The rows in groups, each in the order of ``rows``: `sections(by: \.list)`. A group stands where its first row does.
    public func sections<Key: Hashable>(by key: (Value) -> Key) -> [LiveSection<Key, Value>] {
        var sections: [LiveSection<Key, Value>] = []
        var positions: [Key: Int] = [:]
        for row in rows {
            let key = key(row.value)
            if let position = positions[key] {
                sections[position].rows.append(row)
            } else {
                positions[key] = sections.count
                sections.append(LiveSection(id: key, rows: [row]))
            }
        }
        return sections
    }

    /// Why the results come from the cache although the server was asked: a rejected key, missing functions, no network. The
    /// stream keeps retrying, and this is `nil` again as soon as it succeeds.
    public var serverError: StorageError? { watched.serverError }

    private var watched: State {
        if following == nil, state.phase.error == nil { follow() }
        return state
    }

    // MARK: What there is to do

    /// Shows another query. The previous rows stay until the first results arrive.
    public func show(_ query: some TypedQuerySource<Value>) {
        self.query = query.typed
        limit = pageSize
        showsOthers = true
        state.phase = .loading
        follow()
    }

    /// Shows another query of the same client.
    public func show(_ query: UnboundQuery<Value>) { show(query.in(self.query.storage)) }

    /// Reads through the backend's storage from now on. Rows of another client disappear.
    public func connect(to backend: Infrastructure) { connect(to: backend.storage) }

    func connect(to storage: any StorageClient) {
        guard query.storage.identity != storage.identity else { return }
        let isRead = following != nil || state.phase.error != nil
        query = query.unbound.in(storage)
        guard isRead else { return }
        limit = pageSize
        let removals = state.rows.indices.reversed().map {
            DocumentChange(kind: .removed, document: state.rows[$0].document, oldIndex: $0, newIndex: nil)
        }
        state = State(changes: removals)
        editError = nil
        follow()
    }

    /// Asks the server for the rows again, as `refreshable` does; the stream delivers what is new. Starts over after a failure.
    ///
    /// - Returns: Whether the server has answered. If not, the rows stay as they are.
    @discardableResult
    public func refresh() async -> Bool {
        if state.phase.error != nil { retry() }
        do throws(StorageError) {
            _ = try await page.documents(from: .server, onMismatch: mismatch)
            return true
        } catch {
            return false
        }
    }

    /// Shows one more page, if there is one.
    public func loadMore() {
        guard let pageSize, let limit, state.hasMore, state.found >= limit else { return }
        self.limit = limit + pageSize
        follow()
    }

    /// Call this when a row appears: near the end of the rows, the next page is loaded.
    public func appeared(_ row: Row) {
        guard let index = state.rows.lastIndex(where: { $0.id == row.id }) else { return }
        let distance = isFromEnd ? index : state.rows.count - 1 - index
        if distance < max(1, (pageSize ?? 0) / 4) { loadMore() }
    }

    /// Writes one field of a row; the edit shows up at once.
    ///
    /// After the end of the user's session nothing is written, and ``editError`` says so.
    ///
    /// - Returns: A task that ends when the server has committed or rejected the edit.
    @discardableResult
    public func update<Field: Encodable & Sendable>(
        _ row: Row, _ property: any KeyPath<Value, Field> & Sendable, to value: Field
    ) -> Task<Void, Never> {
        if let refused = refusal() { return refused }
        return row.edit(property, to: value) { [weak self] in self?.editError = $0 }
    }

    /// Adds a document with a new random name to the query's collection; where it fits the query, it shows up at once.
    ///
    /// - Returns: A task that ends when the server has committed or rejected the edit. Without a collection, as in a collection
    ///   group, nothing is written, and ``editError`` says so.
    @discardableResult
    public func add(_ value: Value) -> Task<Void, Never> {
        if let refused = refusal() { return refused }
        guard let collection = query.collection else {
            editError = StorageError(
                .invalidArgument,
                "A document cannot be added to “\(query.query)”: a collection group names no collection. Add it to one."
            )
            return Task {}
        }
        return Task { [weak self] in
            do throws(StorageError) {
                try await collection.addWithReceipt(value).receipt.acknowledged()
            } catch {
                self?.editError = error
            }
        }
    }

    /// Deletes the document of a row; the row disappears at once.
    ///
    /// - Returns: A task that ends when the server has committed or rejected the edit.
    @discardableResult
    public func delete(_ row: Row) -> Task<Void, Never> {
        if let refused = refusal() { return refused }
        let document = row.handle
        return Task { [weak self] in
            do throws(StorageError) {
                try await document.delete().acknowledged()
            } catch {
                self?.editError = error
            }
        }
    }

    /// The rows of an ended session cannot be edited.
    private func refusal() -> Task<Void, Never>? {
        editError = state.phase.error.flatMap { $0.isEndOfSession ? $0 : nil }
        return editError == nil ? nil : Task {}
    }

    /// Starts over after a failure.
    public func retry() {
        state.phase = .loading
        follow()
    }

    private func follow() {
        let stream = page.stream(Following.options, onMismatch: mismatch)
        following = Following(
            Task { [weak self] in
                do throws(StorageError) {
                    for try await snapshot in stream {
                        guard !Task.isCancelled, let self else { return }
                        self.take(snapshot)
                    }
                } catch {
                    guard !Task.isCancelled, let self else { return }
                    self.state.phase = .failed(error)
                    self.following = nil
                }
            })
    }

    /// The query for the rows to show and one more, to know whether there are more; never more than the query itself asks for.
    private var page: TypedQuery<Value> {
        guard let limit else { return query }
        return switch query.query.limit {
        case .last(let all): query.limited(toLast: min(limit + 1, all))
        case .first(let all): query.limited(to: min(limit + 1, all))
        case nil: query.limited(to: limit + 1)
        }
    }

    /// Whether pages begin at the end of the order, as in a chat.
    private var isFromEnd: Bool { if case .last = query.query.limit { true } else { false } }

    private func take(_ snapshot: TypedSnapshot<Value>) {
        let shown = limit.map { isFromEnd ? snapshot.rows.suffix($0) : snapshot.rows.prefix($0) } ?? snapshot.rows[...]
        // The stream's own changes cover all documents, including mismatches and the extra one after the page.
        let old = DocumentList(inOrder: state.rows.map(\.document))
        let new = DocumentList(inOrder: shown.map(\.document))
        // Rows of another query are not in this one's order.
        let changes =
            showsOthers
            ? ListDifference.changesByPosition(from: old, to: new)
            : ListDifference.changes(from: old, to: new, by: QueryEvaluator(query.query))
        showsOthers = false
        let next = State(
            phase: snapshot.isFromCache ? .cached : .live, rows: Array(shown), changes: changes,
            mismatches: snapshot.mismatches, hasPendingWrites: snapshot.hasPendingWrites,
            isFromCache: snapshot.isFromCache, serverError: snapshot.snapshot.metadata.serverError,
            hasMore: limit.map { snapshot.snapshot.count > $0 } ?? false, found: snapshot.snapshot.count)
        apply { state = next }
    }
}

extension LiveQuery: Connectable {
    func show(declared target: UnboundQuery<Value>) { show(target) }
}

/// Rows that belong together; see ``LiveQuery/sections(by:)``.
public struct LiveSection<Key: Hashable, Value: Sendable>: Identifiable {
    public let id: Key
    public internal(set) var rows: [LiveQuery<Value>.Row]
}

extension LiveSection: Sendable where Key: Sendable {}

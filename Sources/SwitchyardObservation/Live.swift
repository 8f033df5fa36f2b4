public import Switchyard

/// The rows of a query, followed for as long as the view or the model has the property.
///
/// ```swift
/// struct OpenTodos: View {
///     @Live(CollectionPath("todos").of(Todo.self).where { !$0.done }) var open
///
///     var body: some View {
///         List(open) { row in Text(row.value.title) }
///             .refreshable { await $open.refresh() }
///     }
/// }
/// ```
/// `$open` is the ``LiveQuery``: its phase, its errors, edits, further pages, another query. A view finds its backend in the
/// environment, where `.backend(_:)` sets it. Elsewhere, pass it: an `@Observable` model has `@ObservationIgnored
/// @Live(query, in: backend) var open`, and its views still observe the rows.
@MainActor @propertyWrapper
public struct Live<Value: Sendable> {
    private var kept: Kept<LiveQuery<Value>>

    /// - Parameters:
    ///   - query: What to show. When a view is made again with another query, that one is shown.
    ///   - backend: Where the documents are; by default, the backend of the view's environment.
    ///   - pageSize: As in ``LiveQuery``.
    ///   - onMismatch: As in ``LiveQuery``.
    public init(
        _ query: UnboundQuery<Value>, in backend: Infrastructure? = nil, pageSize: Int? = nil,
        onMismatch: MismatchHandling = .skip
    ) {
        kept = Kept(LiveQuery(query, pageSize: pageSize, onMismatch: onMismatch), query, in: backend)
    }

    public var wrappedValue: [LiveQuery<Value>.Row] { projectedValue.rows }
    public var projectedValue: LiveQuery<Value> { kept.source }
}

/// The number of rows that ``Live`` would have; it follows all of them.
///
/// To count on the server, without reading the documents, use `count()` of a typed query.
@MainActor @propertyWrapper
public struct LiveCount<Value: Sendable> {
    private var kept: Kept<LiveQuery<Value>>

    /// - Parameters:
    ///   - query: What to count.
    ///   - backend: Where the documents are; by default, the backend of the view's environment.
    public init(_ query: UnboundQuery<Value>, in backend: Infrastructure? = nil) {
        kept = Kept(LiveQuery(query), query, in: backend)
    }

    /// 0 while nothing is known; ``LiveQuery/phase`` tells.
    public var wrappedValue: Int { projectedValue.rows.count }
    public var projectedValue: LiveQuery<Value> { kept.source }
}

/// The value of a document, followed for as long as the view or the model has the property; see ``Live``.
///
/// ```swift
/// @LiveValue(StoragePath("users/alice").of(Profile.self)) var profile
/// ```
/// `$profile` is the ``LiveDocument``.
@MainActor @propertyWrapper
public struct LiveValue<Value: Sendable> {
    private var kept: Kept<LiveDocument<Value>>

    /// - Parameters:
    ///   - document: What to show.
    ///   - backend: Where the document is; by default, the backend of the view's environment.
    ///   - onMismatch: As in ``LiveDocument``.
    public init(
        _ document: UnboundDocument<Value>, in backend: Infrastructure? = nil, onMismatch: MismatchHandling = .skip
    ) {
        kept = Kept(LiveDocument(document, onMismatch: onMismatch), document, in: backend)
    }

    public var wrappedValue: Value? { projectedValue.value }
    public var projectedValue: LiveDocument<Value> { kept.source }
}

#if canImport(SwiftUI)
    public import SwiftUI

    extension Live: DynamicProperty {
        /// - Parameters:
        ///   - query: What to show. When a view is made again with another query, that one is shown.
        ///   - backend: Where the documents are; by default, the backend of the view's environment.
        ///   - pageSize: As in ``LiveQuery``.
        ///   - onMismatch: As in ``LiveQuery``.
        ///   - animation: How views change with the rows.
        public init(
            _ query: UnboundQuery<Value>, in backend: Infrastructure? = nil, pageSize: Int? = nil,
            onMismatch: MismatchHandling = .skip, animation: Animation?
        ) {
            self.init(query, in: backend, pageSize: pageSize, onMismatch: onMismatch)
            projectedValue.apply = { change in withAnimation(animation) { change() } }
        }
    }

    extension LiveCount: DynamicProperty {}
    extension LiveValue: DynamicProperty {}
#endif

/// A stream of states that keeps only the newest unread one: a slow consumer skips the states in between.
///
/// Nothing happens before iteration starts, and every iteration is a separate subscription. It releases its resources
/// exactly once: when the loop is left, its task is cancelled, or the stream fails.
///
/// ```swift
/// for try await snapshot in storage.snapshots(of: "users/alice") { show(snapshot) }
/// ```
public struct SnapshotStream<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// Starts a subscription and returns a closure that ends it.
    public typealias Start = @Sendable (Continuation) -> @Sendable () -> Void

    let makeSource: @Sendable () -> any StreamSource<Element, Failure>

    public init(_ start: @escaping Start) {
        self.init(from: {
            StreamSubscription(.newest) { start(Continuation(buffer: $0)) }
        })
    }

    /// A stream with a single state, for values that never change.
    public static func just(_ element: Element) -> SnapshotStream {
        SnapshotStream { continuation in
            continuation.yield(element)
            continuation.finish()
            return {}
        }
    }

    /// A stream with a single state that does not end: there may be other states later.
    static func only(_ element: Element) -> SnapshotStream {
        SnapshotStream { continuation in
            continuation.yield(element)
            return {}
        }
    }

    /// A stream that fails at once. Use it to refuse a call that cannot throw.
    ///
    /// ```swift
    /// func stream() -> SnapshotStream<QuerySnapshot, StorageError> {
    ///     .failing(.unsupported("live queries", by: provider, instead: "Read again now and then."))
    /// }
    /// ```
    public static func failing(_ error: Failure) -> SnapshotStream {
        SnapshotStream { continuation in
            continuation.finish(throwing: error)
            return {}
        }
    }

    /// - Parameter makeSource: Makes the source of one iteration.
    init(from makeSource: @escaping @Sendable () -> any StreamSource<Element, Failure>) {
        self.makeSource = makeSource
    }

    /// The producer's side of one iteration. Safe to use from any task or thread.
    public struct Continuation: Sendable {
        fileprivate let buffer: StreamBuffer<Element, Failure>

        /// - Returns: `false` once the consumer has stopped.
        @discardableResult
        public func yield(_ element: Element) -> Bool { buffer.yield(element) }
        public func finish() { buffer.finish(.success(())) }
        public func finish(throwing error: Failure) { buffer.finish(.failure(error)) }
    }

    /// Transforms each element and the failure. Needs no task and no buffer.
    public func mapElements<Mapped: Sendable, NewFailure: Error>(
        _ transform: @escaping @Sendable (Element) -> Mapped, failure: @escaping @Sendable (Failure) -> NewFailure
    ) -> SnapshotStream<Mapped, NewFailure> {
        SnapshotStream<Mapped, NewFailure>(from: { [makeSource] in
            TransformingSource(ErrorMappingSource(makeSource(), failure)) { element throws(NewFailure) in
                transform(element)
            }
        })
    }

    /// Transforms each element when it is fetched. If `transform` throws, the stream ends.
    public func mapElements<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Mapped
    ) -> SnapshotStream<Mapped, Failure> {
        SnapshotStream<Mapped, Failure>(from: { [makeSource] in
            TransformingSource(makeSource()) { element throws(Failure) in try transform(element) }
        })
    }

    /// The same stream, with `opened` called when an iteration begins, `delivered` with each element that is fetched, and `ended`
    /// once, when it is over for any reason.
    package func observingLife(
        opened: @escaping @Sendable () -> Void, delivered: (@Sendable (Element) -> Void)? = nil,
        ended: @escaping @Sendable (Failure?) -> Void
    ) -> SnapshotStream<Element, Failure> {
        SnapshotStream(from: { [makeSource] in
            ObservedSource(makeSource(), opened: opened, delivered: delivered, ended: ended)
        })
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: makeSource()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: any StreamSource<Element, Failure>

        /// - Returns: `nil` at the end, and when the task is cancelled.
        public mutating func next() async throws(Failure) -> Element? { try await source.next() }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Failure) -> Element? { try await source.next() }
    }
}

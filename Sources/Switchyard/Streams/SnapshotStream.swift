/// The states of something, one after the other: a consumer that is slow gets the newest and skips those in between.
///
/// Nothing happens before iteration starts; every iteration is a subscription of its own. What it holds is released
/// exactly once: when the loop is left, its task cancelled, or the stream fails.
///
/// ```swift
/// for try await snapshot in storage.snapshots(of: "users/alice") { show(snapshot) }
/// ```
public struct SnapshotStream<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// Starts a subscription and returns what ends it.
    public typealias Start = @Sendable (Continuation) -> @Sendable () -> Void

    let makeSource: @Sendable () -> any StreamSource<Element, Failure>

    public init(_ start: @escaping Start) {
        self.init(from: {
            StreamSubscription(.newest) { start(Continuation(buffer: $0)) }
        })
    }

    /// A stream that has one state, and then ends: for what never changes.
    public static func just(_ element: Element) -> SnapshotStream {
        SnapshotStream { continuation in
            continuation.yield(element)
            continuation.finish()
            return {}
        }
    }

    /// A stream that fails at the first step: for what is refused where nothing can be thrown.
    ///
    /// ```swift
    /// guard hasLiveQueries else {
    ///     return .failing(.unsupported("live queries", by: provider, instead: "Read again now and then."))
    /// }
    /// ```
    public static func failing(_ error: Failure) -> SnapshotStream {
        SnapshotStream { continuation in
            continuation.finish(throwing: error)
            return {}
        }
    }

    /// - Parameter makeSource: What one iteration pulls from.
    init(from makeSource: @escaping @Sendable () -> any StreamSource<Element, Failure>) {
        self.makeSource = makeSource
    }

    /// The producer's side of one iteration. May be used from anywhere.
    public struct Continuation: Sendable {
        fileprivate let buffer: StreamBuffer<Element, Failure>

        /// - Returns: `false` once the consumer has gone.
        @discardableResult
        public func yield(_ element: Element) -> Bool { buffer.yield(element) }
        public func finish() { buffer.finish(.success(())) }
        public func finish(throwing error: Failure) { buffer.finish(.failure(error)) }
    }

    /// The same stream with each element, and a failure, turned into another. Costs no task and no buffer.
    public func mapElements<Mapped: Sendable, NewFailure: Error>(
        _ transform: @escaping @Sendable (Element) -> Mapped, failure: @escaping @Sendable (Failure) -> NewFailure
    ) -> SnapshotStream<Mapped, NewFailure> {
        SnapshotStream<Mapped, NewFailure>(from: { [makeSource] in
            TransformingSource(RefailingSource(makeSource(), failure)) { element throws(NewFailure) in
                transform(element)
            }
        })
    }

    /// The same stream with each element turned into another when it is fetched; a failure of `transform` ends the stream.
    public func mapElements<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Mapped
    ) -> SnapshotStream<Mapped, Failure> {
        SnapshotStream<Mapped, Failure>(from: { [makeSource] in
            TransformingSource(makeSource()) { element throws(Failure) in try transform(element) }
        })
    }

    /// The same stream, with `opened` called when an iteration begins and `ended` once, when it is over for any reason.
    package func observingLife(
        opened: @escaping @Sendable () -> Void, ended: @escaping @Sendable (Failure?) -> Void
    ) -> SnapshotStream<Element, Failure> {
        SnapshotStream(from: { [makeSource] in WatchedSource(makeSource(), opened: opened, ended: ended) })
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

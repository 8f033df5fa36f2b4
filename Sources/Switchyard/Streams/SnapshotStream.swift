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

    private let start: Start

    public init(_ start: @escaping Start) { self.start = start }

    /// The producer's side of one iteration. May be used from anywhere.
    public struct Continuation: Sendable {
        fileprivate let push: @Sendable (Element) -> Bool
        fileprivate let end: @Sendable (Result<Void, Failure>) -> Void

        /// - Returns: `false` once the consumer has gone.
        @discardableResult
        public func yield(_ element: Element) -> Bool { push(element) }
        public func finish() { end(.success(())) }
        public func finish(throwing error: Failure) { end(.failure(error)) }
    }

    /// The same stream with each element, and a failure, turned into another. Costs no task and no buffer.
    public func mapElements<Mapped: Sendable, NewFailure: Error>(
        _ transform: @escaping @Sendable (Element) -> Mapped, failure: @escaping @Sendable (Failure) -> NewFailure
    ) -> SnapshotStream<Mapped, NewFailure> {
        SnapshotStream<Mapped, NewFailure> { [start] target in
            start(
                Continuation(push: { target.push(transform($0)) }, end: { target.end($0.mapError(failure)) }))
        }
    }

    public func mapElements<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Element) -> Mapped
    ) -> SnapshotStream<Mapped, Failure> { mapElements(transform, failure: { $0 }) }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            subscription: StreamSubscription(.newest) { [start] buffer in
                start(Continuation(push: { buffer.yield($0) }, end: { buffer.finish($0) }))
            })
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let subscription: StreamSubscription<Element, Failure>

        /// - Returns: `nil` at the end, and when the task is cancelled.
        public mutating func next() async throws(Failure) -> Element? { try await subscription.next() }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Failure) -> Element? { try await subscription.next() }
    }
}

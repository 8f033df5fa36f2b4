import Synchronization

/// A stream of events. It never drops one, however slow the consumer.
///
/// Nothing happens before iteration starts, and every iteration is a separate subscription. It releases its resources exactly
/// once: when the loop is left, its task is cancelled, or the stream fails. To get events that happen before your loop is
/// reached, begin the iteration earlier with ``begun()``.
public struct EventStream<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// Starts a subscription and returns a closure that ends it.
    public typealias Start = @Sendable (Continuation) -> @Sendable () -> Void

    let makeSource: @Sendable () -> any StreamSource<Element, Failure>

    public init(_ start: @escaping Start) {
        self.init(from: {
            StreamSubscription(.all) { start(Continuation(buffer: $0)) }
        })
    }

    /// A stream whose producer needs time to subscribe, and then calls ``Continuation/announce()``.
    public static func announced(_ start: @escaping Start) -> EventStream {
        EventStream(from: {
            StreamSubscription(.all, isAnnounced: true) { start(Continuation(buffer: $0)) }
        })
    }

    /// A stream that fails at once. Use it to refuse a call that cannot throw.
    public static func failing(_ error: Failure) -> EventStream {
        EventStream { continuation in
            continuation.finish(throwing: error)
            return {}
        }
    }

    /// - Parameter makeSource: Makes the source of one iteration.
    package init(from makeSource: @escaping @Sendable () -> any StreamSource<Element, Failure>) {
        self.makeSource = makeSource
    }

    /// The producer's side of one iteration. Safe to use from any task or thread.
    public struct Continuation: Sendable {
        fileprivate let buffer: StreamBuffer<Element, Failure>

        /// Declares that no event is missed from now on; for a stream made with ``EventStream/announced(_:)``.
        public func announce() { buffer.announce() }
        /// - Returns: `false` once the consumer has stopped.
        @discardableResult
        public func yield(_ element: Element) -> Bool { buffer.yield(element) }
        public func finish() { buffer.finish(.success(())) }
        public func finish(throwing error: Failure) { buffer.finish(.failure(error)) }
    }

    /// Transforms each element and the failure. Needs no task and no buffer.
    public func mapElements<Mapped: Sendable, NewFailure: Error>(
        _ transform: @escaping @Sendable (Element) -> Mapped, failure: @escaping @Sendable (Failure) -> NewFailure
    ) -> EventStream<Mapped, NewFailure> {
        EventStream<Mapped, NewFailure>(from: { [makeSource] in
            TransformingSource(ErrorMappingSource(makeSource(), failure)) { element throws(NewFailure) in
                transform(element)
            }
        })
    }

    /// Transforms each element when it is fetched. If `transform` throws, the stream ends.
    public func mapElements<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Mapped
    ) -> EventStream<Mapped, Failure> {
        EventStream<Mapped, Failure>(from: { [makeSource] in
            TransformingSource(makeSource()) { element throws(Failure) in try transform(element) }
        })
    }

    /// The same stream, with `opened` called when an iteration begins, `delivered` with each element that is fetched, and `ended`
    /// once, when it is over for any reason.
    package func observingLife(
        opened: @escaping @Sendable () -> Void, delivered: (@Sendable (Element) -> Void)? = nil,
        ended: @escaping @Sendable (Failure?) -> Void
    ) -> EventStream<Element, Failure> {
        EventStream(from: { [makeSource] in
            ObservedSource(makeSource(), opened: opened, delivered: delivered, ended: ended)
        })
    }

    /// Begins an iteration now: once this returns, no event is missed, whenever the loop is reached.
    ///
    /// ```swift
    /// let messages = await messaging.messageStream().begun()
    /// try await invite(friend)                        // whose answer may come at once
    /// for try await message in messages { show(message) }
    /// ```
    /// The first loop over the result continues that iteration; any other loop starts a new subscription. If the stream fails
    /// at once, or its task is cancelled, the loop ends accordingly. The iteration ends with the returned stream, even
    /// without a loop.
    public func begun() async -> EventStream {
        let source = makeSource()
        await source.begin()
        let held = Held(source)
        return EventStream(from: { [makeSource] in held.take() ?? makeSource() })
    }

    /// The iteration that has begun, until a loop takes it over.
    private final class Held: Sendable {
        private let source: Mutex<(any StreamSource<Element, Failure>)?>
        init(_ source: any StreamSource<Element, Failure>) { self.source = Mutex(source) }

        func take() -> (any StreamSource<Element, Failure>)? {
            source.withLock { source in
                defer { source = nil }
                return source
            }
        }
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

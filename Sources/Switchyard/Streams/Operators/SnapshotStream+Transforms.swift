import Synchronization

/// Consumer-side operators: they run when an element is fetched, so skipped elements cost nothing.
extension SnapshotStream {
    /// Transforms elements, dropping those for which `transform` returns `nil`. If `transform` throws, the stream ends.
    public func compactMapElements<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Output?
    ) -> SnapshotStream<Output, Failure> {
        SnapshotStream<Output, Failure>(from: { [makeSource] in TransformingSource(makeSource(), transform) })
    }

    /// Leaves out every element that is equal, according to `areEqual`, to the one fetched before it.
    public func removeDuplicates(
        by areEqual: @escaping @Sendable (Element, Element) -> Bool
    ) -> SnapshotStream {
        SnapshotStream(from: { [makeSource] in
            let last = Latest<Element>()
            return TransformingSource(makeSource()) { element throws(Failure) in
                if let previous = last.value, areEqual(previous, element) { return nil }
                last.value = element
                return element
            }
        })
    }
}

extension SnapshotStream {
    /// This stream with `any Error` as its failure, for lists of streams with different failure types.
    public func erasingFailure() -> SnapshotStream<Element, any Error> { mapElements({ $0 }, failure: { $0 }) }
}

extension SnapshotStream where Failure == Never {
    /// The same stream, as one that could fail.
    public func settingFailure<NewFailure: Error>(to type: NewFailure.Type) -> SnapshotStream<Element, NewFailure> {
        SnapshotStream<Element, NewFailure>(from: { [makeSource] in NonfailingSource(makeSource()) })
    }
}

extension EventStream {
    /// This stream with `any Error` as its failure.
    public func erasingFailure() -> EventStream<Element, any Error> { mapElements({ $0 }, failure: { $0 }) }
}

extension SnapshotStream where Element: Equatable {
    /// Leaves out every element that is equal to the one fetched before it.
    public func removeDuplicates() -> SnapshotStream { removeDuplicates(by: ==) }
}

/// The last element seen. Each is used by one iteration only, so its lock is never contended.
private final class Latest<Element: Sendable>: Sendable {
    private let state = Mutex<Element?>(nil)
    var value: Element? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// One iteration of a stream: begins at the first `next()` and ends with the last copy of its iterator.
final class StreamSubscription<Element: Sendable, Failure: Error>: StreamSource {
    private let buffer: StreamBuffer<Element, Failure>
    private let starter: Once

    init(
        _ policy: StreamBuffer<Element, Failure>.Policy,
        start: @escaping @Sendable (StreamBuffer<Element, Failure>) -> @Sendable () -> Void
    ) {
        let buffer = StreamBuffer<Element, Failure>(policy)
        self.buffer = buffer
        starter = Once { if !buffer.hasEnded { buffer.setCleanup(start(buffer)) } }
    }

    func next() async throws(Failure) -> Element? {
        if !Task.isCancelled { starter.run() }
        return try await buffer.next()
    }

    deinit { buffer.leave() }
}

import SwitchyardBytes

/// One iteration of a stream: begins at the first `next()` and ends with the last copy of its iterator.
final class StreamSubscription<Element: Sendable, Failure: Error>: StreamSource {
    private let buffer: StreamBuffer<Element, Failure>
    private let starter: Once

    /// - Parameter isAnnounced: Whether the producer itself says when it has taken hold; else it has when `start` returns.
    init(
        _ policy: StreamBuffer<Element, Failure>.Policy, isAnnounced: Bool = false,
        start: @escaping @Sendable (StreamBuffer<Element, Failure>) -> @Sendable () -> Void
    ) {
        let buffer = StreamBuffer<Element, Failure>(policy)
        self.buffer = buffer
        starter = Once {
            guard !buffer.hasEnded else { return }
            buffer.setCleanup(start(buffer))
            if !isAnnounced { buffer.announce() }
        }
    }

    func begin() async {
        if !Task.isCancelled { starter.run() }
        await buffer.announcement()
    }

    func next() async throws(Failure) -> Element? {
        if !Task.isCancelled { starter.run() }
        return try await buffer.next()
    }

    deinit { buffer.leave() }
}

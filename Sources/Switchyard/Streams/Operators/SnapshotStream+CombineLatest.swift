import Synchronization

/// Combines the newest elements of two streams: first when both have one, then whenever either has a new one.
///
/// Ends when both have ended, or when one ends without an element; fails with the first failure. An element that is repeated
/// because the other one is new also repeats its changes, so use its list of documents, not its changes.
public func combineLatest<First: Sendable, Second: Sendable, Failure: Error>(
    _ first: SnapshotStream<First, Failure>, _ second: SnapshotStream<Second, Failure>
) -> SnapshotStream<(First, Second), Failure> { latest(first, second) }

private func latest<First: Sendable, Second: Sendable, Failure: Error>(
    _ first: SnapshotStream<First, Failure>, _ second: SnapshotStream<Second, Failure>
) -> SnapshotStream<(First, Second), Failure> {
    SnapshotStream(from: {
        let pair = LatestPair<First, Second>()
        let ticks = StreamSubscription<Void, Failure>(.newest) { buffer in
            let tasks = [
                Task {
                    await pair.follow(first, into: buffer) {
                        $0.first.put($1)
                    } end: {
                        $0.firstHasEnded = true
                    }
                },
                Task {
                    await pair.follow(second, into: buffer) {
                        $0.second.put($1)
                    } end: {
                        $0.secondHasEnded = true
                    }
                },
            ]
            return { for task in tasks { task.cancel() } }
        }
        return TransformingSource(ticks) { _ throws(Failure) in pair.look() }
    })
}

/// Combines the newest elements of two streams, of which the second cannot fail.
public func combineLatest<First: Sendable, Second: Sendable, Failure: Error>(
    _ first: SnapshotStream<First, Failure>, _ second: SnapshotStream<Second, Never>
) -> SnapshotStream<(First, Second), Failure> { latest(first, second.settingFailure(to: Failure.self)) }

/// Combines the newest elements of two streams, of which the first cannot fail.
public func combineLatest<First: Sendable, Second: Sendable, Failure: Error>(
    _ first: SnapshotStream<First, Never>, _ second: SnapshotStream<Second, Failure>
) -> SnapshotStream<(First, Second), Failure> { latest(first.settingFailure(to: Failure.self), second) }

/// Combines the newest elements of two streams that cannot fail.
public func combineLatest<First: Sendable, Second: Sendable>(
    _ first: SnapshotStream<First, Never>, _ second: SnapshotStream<Second, Never>
) -> SnapshotStream<(First, Second), Never> { latest(first, second) }

/// Combines the newest elements of two streams with different failure types, such as those of a file and a document.
public func combineLatest<First: Sendable, Second: Sendable>(
    _ first: SnapshotStream<First, some Error>, _ second: SnapshotStream<Second, some Error>
) -> SnapshotStream<(First, Second), any Error> { latest(first.erasingFailure(), second.erasingFailure()) }

/// Combines the newest elements of three streams.
public func combineLatest<First: Sendable, Second: Sendable, Third: Sendable, Failure: Error>(
    _ first: SnapshotStream<First, Failure>, _ second: SnapshotStream<Second, Failure>,
    _ third: SnapshotStream<Third, Failure>
) -> SnapshotStream<(First, Second, Third), Failure> {
    latest(latest(first, second), third).mapElements { ($0.0, $0.1, $1) }
}

/// Combines the newest elements of three streams with different failure types.
public func combineLatest<First: Sendable, Second: Sendable, Third: Sendable>(
    _ first: SnapshotStream<First, some Error>, _ second: SnapshotStream<Second, some Error>,
    _ third: SnapshotStream<Third, some Error>
) -> SnapshotStream<(First, Second, Third), any Error> {
    latest(latest(first.erasingFailure(), second.erasingFailure()), third.erasingFailure())
        .mapElements { ($0.0, $0.1, $1) }
}

private final class LatestPair<First: Sendable, Second: Sendable>: Sendable {
    struct State: Sendable {
        var first = Slot<First>()
        var second = Slot<Second>()
        var firstHasEnded = false
        var secondHasEnded = false

        /// Whether no more elements can come.
        var isOver: Bool {
            (firstHasEnded && secondHasEnded) || (firstHasEnded && first.element == nil)
                || (secondHasEnded && second.element == nil)
        }
    }

    private let state = Mutex(State())

    func look() -> (First, Second)? {
        state.withLock { state in
            guard state.first.element != nil, state.second.element != nil else { return nil }
            guard let first = state.first.look(), let second = state.second.look() else { return nil }
            return (first, second)
        }
    }

    func follow<Element: Sendable, Failure: Error>(
        _ stream: SnapshotStream<Element, Failure>, into ticks: StreamBuffer<Void, Failure>,
        _ put: @Sendable (inout State, Element) -> Void, end: @Sendable (inout State) -> Void
    ) async {
        let source = stream.makeSource()
        do throws(Failure) {
            while let element = try await source.next() {
                state.withLock { put(&$0, element) }
                ticks.yield(())
            }
        } catch {
            ticks.finish(.failure(error))
            return
        }
        let isOver = state.withLock { state in
            end(&state)
            return state.isOver
        }
        if isOver { ticks.finish(.success(())) }
    }
}

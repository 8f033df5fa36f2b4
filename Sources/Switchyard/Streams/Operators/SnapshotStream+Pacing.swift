import Synchronization

/// Streams with a different pace. The clock is injected, so that tests can control it.
extension SnapshotStream {
    /// Delivers the newest element once no other has come for `interval`: for search-as-you-type.
    ///
    /// When the stream ends or fails, a waiting element is delivered first.
    public func debounce(
        for interval: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) -> SnapshotStream {
        paced(.debounce, interval, clock)
    }

    /// Delivers the first element at once, and then at most one for each `interval`: the newest.
    ///
    /// When the stream ends or fails, a waiting element is delivered first.
    public func throttle(
        for interval: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) -> SnapshotStream {
        paced(.throttle, interval, clock)
    }

    private func paced(_ mode: Pacer<Element>.Mode, _ interval: Duration, _ clock: any Clock<Duration>)
        -> SnapshotStream
    {
        SnapshotStream(from: {
            let pacer = Pacer<Element>(mode)
            let ticks = StreamSubscription<Void, Failure>(.newest) { buffer in
                let reader = Task {
                    let source = makeSource()
                    do throws(Failure) {
                        while let element = try await source.next() {
                            pacer.receive(element, interval, clock) { buffer.yield(()) }
                        }
                        if pacer.end() { buffer.yield(()) }
                        buffer.finish(.success(()))
                    } catch {
                        if pacer.end() { buffer.yield(()) }
                        buffer.finish(.failure(error))
                    }
                }
                return {
                    reader.cancel()
                    _ = pacer.end()
                }
            }
            return TransformingSource(ticks) { _ throws(Failure) in pacer.take() }
        })
    }
}

/// Decides when an element is ready to be fetched. At most one timer runs at a time.
private final class Pacer<Element: Sendable>: Sendable {
    enum Mode: Sendable { case debounce, throttle }

    private struct State {
        var pending = Slot<Element>()
        var ready = Slot<Element>()
        var timer: Task<Void, Never>?
        /// Whether a throttled element came less than an interval ago.
        var isHolding = false
        /// Distinguishes a replaced timer that still fires from the current one.
        var generation = 0
        var hasEnded = false

        /// - Returns: Whether anything became ready.
        mutating func release() -> Bool {
            guard let element = pending.take() else { return false }
            ready.put(element)
            return true
        }
    }

    private let mode: Mode
    private let state = Mutex(State())

    init(_ mode: Mode) { self.mode = mode }

    func take() -> Element? { state.withLock { $0.ready.take() } }

    func receive(
        _ element: Element, _ interval: Duration, _ clock: any Clock<Duration>, tick: @escaping @Sendable () -> Void
    ) {
        let (isReady, generation) = state.withLock { state -> (Bool, Int?) in
            guard !state.hasEnded else { return (false, nil) }
            state.pending.put(element)
            switch mode {
            case .throttle where state.isHolding: return (false, nil)
            case .throttle:
                state.isHolding = true
                let isReady = state.release()
                state.generation += 1
                return (isReady, state.generation)
            case .debounce:
                state.generation += 1
                return (false, state.generation)
            }
        }
        if isReady { tick() }
        if let generation { startTimer(generation, interval, clock, tick) }
    }

    private func startTimer(
        _ generation: Int, _ interval: Duration, _ clock: any Clock<Duration>, _ tick: @escaping @Sendable () -> Void
    ) {
        let timer = Task {
            do { try await clock.sleep(for: interval) } catch { return }
            self.fire(generation, interval, clock, tick)
        }
        let replaced = state.withLock { state -> Task<Void, Never>? in
            guard !state.hasEnded, state.generation == generation else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        replaced?.cancel()
    }

    private func fire(
        _ generation: Int, _ interval: Duration, _ clock: any Clock<Duration>, _ tick: @escaping @Sendable () -> Void
    ) {
        let (isReady, next) = state.withLock { state -> (Bool, Int?) in
            guard !state.hasEnded, state.generation == generation else { return (false, nil) }
            state.timer = nil
            let isReady = state.release()
            state.isHolding = isReady
            guard mode == .throttle, isReady else { return (isReady, nil) }
            state.generation += 1
            return (isReady, state.generation)
        }
        if isReady { tick() }
        if let next { startTimer(next, interval, clock, tick) }
    }

    /// Stops the timer; a waiting element becomes ready.
    ///
    /// - Returns: Whether anything became ready.
    func end() -> Bool {
        let (timer, isReady) = state.withLock { state in
            state.hasEnded = true
            defer { state.timer = nil }
            return (state.timer, state.release())
        }
        timer?.cancel()
        return isReady
    }
}

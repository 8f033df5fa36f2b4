import Switchyard
import SwitchyardTestSupport
import Synchronization
import Testing

/// These wait for tasks of their own, which come late when everything else runs at the same time.
private func eventuallyUnderLoad(_ what: String, _ condition: () async throws -> Bool) async throws {
    try await eventually(what, within: .seconds(120), condition)
}

@Suite struct PacingTests {
    /// Consumes a stream in a task and keeps what came.
    final class Received<Element: Sendable, Failure: Error>: Sendable {
        let elements = Mutex<[Element]>([])
        let end = Mutex<Result<Void, Failure>?>(nil)
        let task = Mutex<Task<Void, Never>?>(nil)

        init(_ stream: SnapshotStream<Element, Failure>) {
            let task = Task {
                var iterator = stream.makeAsyncIterator()
                do throws(Failure) {
                    while let element = try await iterator.next() { elements.withLock { $0.append(element) } }
                    end.withLock { $0 = .success(()) }
                } catch {
                    end.withLock { $0 = .failure(error) }
                }
            }
            self.task.withLock { $0 = task }
        }

        var all: [Element] { elements.withLock { $0 } }
        var hasEnded: Bool { end.withLock { $0 != nil } }
        func cancel() { task.withLock { $0 }?.cancel() }
    }

    @Test func `Debouncing waits for quiet and then gives the newest`() async throws {
        let (clock, producer) = (ManualClock(), Producer<Int, Never>())
        let received = Received(producer.stream.debounce(for: .seconds(1), clock: clock))
        try await eventuallyUnderLoad("it has begun") { producer.started == 1 }
        for element in 1...3 {
            producer.yield(element)
            // The step has the element once its timer, the only one, runs from now.
            try await eventuallyUnderLoad("the timer was set again") {
                clock.deadlines == [clock.now.advanced(by: .seconds(1))]
            }
            clock.advance(by: .milliseconds(900))
        }
        #expect(received.all.isEmpty)
        clock.advance(by: .milliseconds(100))
        try await eventuallyUnderLoad("the newest came") { received.all == [3] }
        producer.yield(4)
        try await eventuallyUnderLoad("the timer was set") { clock.sleeperCount == 1 }
        producer.finish()
        try await eventuallyUnderLoad("what waited comes before the end") {
            received.all == [3, 4] && received.hasEnded
        }
        try await eventuallyUnderLoad("no timer stays") { clock.sleeperCount == 0 }
        #expect(producer.cleaned == 1)
    }

    @Test func `Throttling gives the first at once and then the newest of each interval`() async throws {
        let (clock, producer) = (ManualClock(), Producer<Int, Never>())
        let taken = Mutex(0)
        let counted = producer.stream.mapElements { element in
            taken.withLock { $0 = element }
            return element
        }
        let received = Received(counted.throttle(for: .seconds(1), clock: clock))
        try await eventuallyUnderLoad("it has begun") { producer.started == 1 }
        producer.yield(1)
        try await eventuallyUnderLoad("the first came") { received.all == [1] && clock.sleeperCount == 1 }
        producer.yield(2)
        producer.yield(3)
        try await eventuallyUnderLoad("the step has taken both") { taken.withLock { $0 } == 3 }
        clock.advance(by: .seconds(1))
        try await eventuallyUnderLoad("the newest came") { received.all == [1, 3] && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await eventuallyUnderLoad("the interval ended without any") { clock.sleeperCount == 0 }
        #expect(received.all == [1, 3])
        producer.yield(4)
        try await eventuallyUnderLoad("at once again") { received.all == [1, 3, 4] }
        received.cancel()
        try await eventuallyUnderLoad("cancelled") { producer.cleaned == 1 && clock.sleeperCount == 0 }
    }

    @Test func `A failure comes after what waited, once`() async throws {
        let (clock, producer) = (ManualClock(), Producer<Int, Broken>())
        let received = Received(producer.stream.debounce(for: .seconds(1), clock: clock))
        try await eventuallyUnderLoad("it has begun") { producer.started == 1 }
        producer.yield(1)
        try await eventuallyUnderLoad("the timer was set") { clock.sleeperCount == 1 }
        producer.fail(Broken())
        try await eventuallyUnderLoad("it failed") { received.hasEnded }
        #expect(received.all == [1])
        #expect(throws: Broken.self) { try received.end.withLock { $0 }?.get() }
        #expect(producer.cleaned == 1)
    }

    @Test func `Two and three streams are combined to their newest elements`() async throws {
        let (numbers, texts, flags) = (Producer<Int, Broken>(), Producer<String, Broken>(), Producer<Bool, Broken>())
        let received = Received(
            combineLatest(numbers.stream, texts.stream, flags.stream).mapElements { "\($0.0)\($0.1)\($0.2)" })
        try await eventuallyUnderLoad("all have begun") { numbers.started + texts.started + flags.started == 3 }
        numbers.yield(1)
        texts.yield("a")
        #expect(received.all.isEmpty)
        flags.yield(true)
        try await eventuallyUnderLoad("all are there") { received.all.last == "1atrue" }
        texts.yield("b")
        try await eventuallyUnderLoad("one is new") { received.all.last == "1btrue" }
        texts.finish()
        numbers.yield(2)
        try await eventuallyUnderLoad("one has ended, the others go on") { received.all.last == "2btrue" }
        #expect(!received.hasEnded)
        numbers.fail(Broken())
        try await eventuallyUnderLoad("a failure ends all") { received.hasEnded }
        try await eventuallyUnderLoad("all are released") { numbers.cleaned + texts.cleaned + flags.cleaned == 3 }
        #expect(flags.cleaned == 1 && texts.cleaned == 1)
    }

    @Test func `A combination ends when nothing more can come of it`() async throws {
        let (left, right) = (Producer<Int, Never>(), Producer<Int, Never>())
        let received = Received(combineLatest(left.stream, right.stream).mapElements { $0.0 + $0.1 })
        try await eventuallyUnderLoad("both have begun") { left.started + right.started == 2 }
        left.finish()
        try await eventuallyUnderLoad("there will never be a pair") { received.hasEnded }
        try await eventuallyUnderLoad("both are released") { left.cleaned == 1 && right.cleaned == 1 }

        let cancelled = Received(combineLatest(left.stream, right.stream).mapElements { $0.0 + $0.1 })
        try await eventuallyUnderLoad("both have begun") { left.started + right.started == 4 }
        cancelled.cancel()
        try await eventuallyUnderLoad("both are released") { left.cleaned == 2 && right.cleaned == 2 }
    }

    @Test func `The clock wakes whoever is due and no one who has given up`() async throws {
        let clock = ManualClock()
        final class Woken: Sendable { let state = Mutex<[Int]>([]) }
        let woken = Woken()
        var sleepers: [Task<Void, any Error>] = []
        for seconds in [3, 1, 2] {
            sleepers.append(
                Task {
                    try await clock.sleep(for: .seconds(seconds))
                    woken.state.withLock { $0.append(seconds) }
                })
        }
        try await eventuallyUnderLoad("all sleep") { clock.sleeperCount == 3 }
        sleepers[0].cancel()
        await #expect(throws: CancellationError.self) { try await sleepers[0].value }
        clock.advance(by: .seconds(1))
        try await eventuallyUnderLoad("one woke") { woken.state.withLock { $0 } == [1] }
        clock.advance(by: .seconds(5))
        try await eventuallyUnderLoad("the rest woke") {
            woken.state.withLock { $0 } == [1, 2] && clock.sleeperCount == 0
        }
        try await clock.sleep(until: clock.now)
    }
}

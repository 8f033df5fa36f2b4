import Switchyard
import SwitchyardTestSupport
import Synchronization
import Testing

/// A producer that a test drives, and that counts what is asked of it.
final class Producer<Element: Sendable, Failure: Error>: Sendable {
    struct State {
        var started = 0
        var cleaned = 0
        var continuations: [SnapshotStream<Element, Failure>.Continuation] = []
    }
    let state = Mutex(State())

    var stream: SnapshotStream<Element, Failure> {
        SnapshotStream { [self] continuation in
            state.withLock {
                $0.started += 1
                $0.continuations.append(continuation)
            }
            return { self.state.withLock { $0.cleaned += 1 } }
        }
    }

    var started: Int { state.withLock { $0.started } }
    var cleaned: Int { state.withLock { $0.cleaned } }
    func yield(_ element: Element) { for one in state.withLock({ $0.continuations }) { one.yield(element) } }
    func finish() { for one in state.withLock({ $0.continuations }) { one.finish() } }
    func fail(_ error: Failure) { for one in state.withLock({ $0.continuations }) { one.finish(throwing: error) } }
}

struct Broken: Error, Equatable {}

@Suite struct SnapshotStreamTests {
    @Test func `Nothing starts before iteration, and every iteration is its own`() async throws {
        let producer = Producer<Int, Never>()
        let stream = producer.stream
        var first = stream.makeAsyncIterator()
        #expect(producer.started == 0)
        let producing = Task {
            try await eventually("the first has begun") { producer.started == 1 }
            producer.yield(1)
        }
        #expect(await first.next() == 1)
        try await producing.value
        let other = Task {
            for await element in stream where element == 2 { return true }
            return false
        }
        try await eventually("the second has begun") { producer.started == 2 }
        producer.yield(2)
        #expect(await other.value)
        #expect(await first.next() == 2)
        try await eventually("the second has left") { producer.cleaned == 1 }
    }

    @Test func `What never changes is one state and the end, for every loop`() async {
        let stream = SnapshotStream<Int, Broken>.just(7)
        for _ in 0..<2 {
            var elements: [Int] = []
            await #expect(throws: Never.self) { for try await element in stream { elements.append(element) } }
            #expect(elements == [7])
        }
    }

    @Test func `What is refused fails at the first step of every loop, and is over then`() async throws {
        let stream = SnapshotStream<Int, Broken>.failing(Broken())
        for _ in 0..<2 {
            var iterator = stream.makeAsyncIterator()
            await #expect(throws: Broken()) { _ = try await iterator.next() }
            #expect(try await iterator.next() == nil)
        }
        var events = EventStream<Int, Broken>.failing(Broken()).makeAsyncIterator()
        await #expect(throws: Broken()) { _ = try await events.next() }
        #expect(try await events.next() == nil)
        let begun = await EventStream<Int, Broken>.failing(Broken()).begun()
        await #expect(throws: Broken()) { for try await _ in begun {} }
    }

    @Test func `A slow consumer gets the newest state and skips those in between`() async {
        let stream = SnapshotStream<Int, Never> { continuation in
            for element in 1...5 { continuation.yield(element) }
            continuation.finish()
            return {}
        }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == 5)
        #expect(await iterator.next() == nil)
    }

    @Test func `Events are never dropped, however many wait`() async {
        let stream = EventStream<Int, Never> { continuation in
            for element in 0..<5000 { continuation.yield(element) }
            continuation.finish()
            return {}
        }
        var received: [Int] = []
        for await element in stream.mapElements({ $0 + 1 }) { received.append(element) }
        #expect(received == Array(1...5000))
    }

    @Test func `Leaving the loop, the end and a failure each clean up exactly once`() async throws {
        let broken = Producer<Int, Broken>()
        let task = Task { () -> Int in
            do {
                for try await element in broken.stream { if element == 3 { break } }
                return 0
            } catch {
                return 1
            }
        }
        try await eventually("it has begun") { broken.started == 1 }
        broken.yield(3)
        #expect(await task.value == 0)
        try await eventually("break cleans up") { broken.cleaned == 1 }

        var iterator = broken.stream.makeAsyncIterator()
        let failing = Task {
            try await eventually("again") { broken.started == 2 }
            broken.fail(Broken())
        }
        await #expect(throws: Broken.self) { try await iterator.next() }
        try await failing.value
        #expect(broken.cleaned == 2)
        #expect(try await iterator.next() == nil, "a failure is thrown once")

        let ending = Producer<Int, Never>()
        let end = Task {
            for await _ in ending.stream {}
            return true
        }
        try await eventually("it has begun") { ending.started == 1 }
        ending.finish()
        #expect(await end.value)
        #expect(ending.cleaned == 1)
        ending.yield(1)
        ending.finish()
        #expect(ending.cleaned == 1)
    }

    @Test func `Cancellation ends the wait and cleans up; a cancelled task starts nothing`() async throws {
        let producer = Producer<Int, Never>()
        let waiting = Task {
            for await _ in producer.stream {}
            return Task.isCancelled
        }
        try await eventually("it waits") { producer.started == 1 }
        waiting.cancel()
        #expect(await waiting.value)
        #expect(producer.cleaned == 1)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for await _ in producer.stream {}
        }
        await late.value
        #expect(producer.started == 1)
    }

    @Test func `An iterator that is given up without a loop cleans up too`() async throws {
        let producer = Producer<Int, Never>()
        func use() async throws {
            var iterator = producer.stream.makeAsyncIterator()
            let producing = Task {
                try await eventually("it has begun") { producer.started == 1 }
                producer.yield(1)
            }
            _ = await iterator.next()
            try await producing.value
        }
        try await use()
        try await eventually("the iterator is gone") { producer.cleaned == 1 }
    }

    @Test func `Elements are changed and left out when they are fetched; a failure ends and cleans up`() async throws {
        let producer = Producer<Int, Broken>()
        let stream = producer.stream.compactMapElements { element throws(Broken) in
            if element < 0 { throw Broken() }
            return element.isMultiple(of: 2) ? "\(element)" : nil
        }
        var iterator = stream.makeAsyncIterator()
        let producing = Task {
            try await eventually("it has begun") { producer.started == 1 }
            producer.yield(1)
            producer.yield(2)
        }
        #expect(try await iterator.next() == "2")
        try await producing.value
        producer.yield(-1)
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(producer.cleaned == 1)
        #expect(try await iterator.next() == nil)
    }

    @Test func `Equal neighbours are reported once`() async throws {
        let producer = Producer<Int, Never>()
        let elements = producer.stream.removeDuplicates()
        let seen = Mutex<[Int]>([])
        let consumer = Task { for await element in elements { seen.withLock { $0.append(element) } } }
        try await eventually("it has begun") { producer.started == 1 }
        for (element, expected) in [(1, [1]), (2, [1, 2]), (1, [1, 2, 1])] {
            producer.yield(element)
            try await eventually("a new element is seen") { seen.withLock { $0 } == expected }
            producer.yield(element)
        }
        producer.finish()
        await consumer.value
        let received = seen.withLock { $0 }
        #expect(received == [1, 2, 1])
    }

    @Test(arguments: 1...20)
    func `However many snapshots go unseen, the next one says what changed since the last that was seen`(seed: Int)
        async throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        let query = random.query()
        let source = Mutex<SnapshotStream<QuerySnapshot, StorageError>.Continuation?>(nil)
        let stream = SnapshotStream<QuerySnapshot, StorageError> { continuation in
            source.withLock { $0 = continuation }
            continuation.yield(QuerySnapshot(query: query, documents: []))
            return {}
        }
        var iterator = stream.makeAsyncIterator()
        var list: [DocumentSnapshot] = []
        try QueryViewTests.apply(try #require(try await iterator.next()).changes, to: &list)
        var view = QueryView(query)
        var last = view.documents
        for _ in 0..<25 {
            for _ in 0..<random.pick([1, 2, 5, 100]) {
                for _ in 0..<random.int(1..<4) { view.update(random.snapshot()) }
                let documents = view.documents
                let knowsBase = random.chance(seed.isMultiple(of: 4) ? 0 : 100)
                let snapshot = QuerySnapshot(
                    query: query, documents: documents, changes: view.takeChanges(), metadata: SnapshotMetadata(),
                    since: knowsBase ? last : nil)
                last = documents
                _ = source.withLock { $0 }?.yield(snapshot)
            }
            let seen = try #require(try await iterator.next())
            try QueryViewTests.apply(seen.changes, to: &list)
            #expect(list == Array(seen.documents))
            if !seed.isMultiple(of: 4) {
                #expect(Set(seen.changes.map(\.document.path)).count == seen.changes.count)
            }
        }
    }
}

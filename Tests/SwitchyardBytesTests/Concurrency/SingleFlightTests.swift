import SwitchyardBytes
import SwitchyardTestSupport
import Synchronization
import Testing

struct SingleFlightTests {
    private enum Failure: Error { case cancelled, refused }

    /// An operation that ends when it is told to, and notes its cancellation.
    private final class Operation: Sendable {
        let starts = Atomic(0)
        let running = Atomic(0)
        let mostRunning = Atomic(0)
        let isReleased = Atomic(false)
        let sawCancellation = Atomic(false)

        func run(_ result: Result<Int, Failure>, ignoringCancellation: Bool = false) async throws(Failure) -> Int {
            starts.add(1, ordering: .sequentiallyConsistent)
            let now = running.add(1, ordering: .sequentiallyConsistent).newValue
            mostRunning.max(now, ordering: .sequentiallyConsistent)
            defer { running.subtract(1, ordering: .sequentiallyConsistent) }
            while !isReleased.load(ordering: .sequentiallyConsistent) {
                if Task.isCancelled {
                    sawCancellation.store(true, ordering: .sequentiallyConsistent)
                    if !ignoringCancellation { throw .cancelled }
                }
                await Task.yield()
            }
            return try result.get()
        }

        func release() { isReleased.store(true, ordering: .sequentiallyConsistent) }
        var wasCancelled: Bool { sawCancellation.load(ordering: .sequentiallyConsistent) }
        var peak: Int { mostRunning.load(ordering: .sequentiallyConsistent) }
        var startCount: Int { starts.load(ordering: .sequentiallyConsistent) }
    }

    private let flight = SingleFlight<Int, Failure> { .cancelled }

    private func wait(_ operation: Operation, for result: Result<Int, Failure> = .success(1)) -> Task<
        Result<Int, Failure>, Never
    > {
        Task { [flight] in
            do throws(Failure) {
                return .success(try await flight.run { () throws(Failure) in try await operation.run(result) })
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `Many waiters share one run and its value`() async throws {
        let operation = Operation()
        let waiters = (0..<50).map { wait(operation, for: .success($0)) }
        try await eventually("it runs") { operation.startCount == 1 }
        try await eventually("all wait") { flight.waiterCount == 50 }
        operation.release()
        let results = await withTaskGroup(of: Result<Int, Failure>.self) { group in
            for waiter in waiters { group.addTask { await waiter.value } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let value = try results[0].get()
        #expect(results.allSatisfy { $0 == .success(value) })
        #expect(operation.startCount == 1)
        #expect(!flight.isRunning)
    }

    @Test func `A failure reaches every waiter with its type, and the next call runs again`() async throws {
        let operation = Operation()
        let waiters = [wait(operation, for: .failure(.refused)), wait(operation, for: .failure(.refused))]
        try await eventually("both wait") { flight.waiterCount == 2 }
        operation.release()
        for waiter in waiters { #expect(await waiter.value == .failure(.refused)) }
        #expect(await wait(operation).value == .success(1))
        #expect(operation.startCount == 2)
    }

    @Test func `A cancelled waiter leaves alone`() async throws {
        let operation = Operation()
        let (first, second) = (wait(operation), wait(operation))
        try await eventually("both wait") { flight.waiterCount == 2 }
        first.cancel()
        #expect(await first.value == .failure(.cancelled))
        #expect(flight.isRunning)
        operation.release()
        #expect(await second.value == .success(1))
        #expect(!operation.wasCancelled)
    }

    @Test func `When the last waiter leaves, the operation is cancelled`() async throws {
        let operation = Operation()
        let waiters = [wait(operation), wait(operation)]
        try await eventually("both wait") { flight.waiterCount == 2 }
        try await eventually("it runs") { operation.startCount == 1 }
        for waiter in waiters { waiter.cancel() }
        for waiter in waiters { #expect(await waiter.value == .failure(.cancelled)) }
        try await eventually("it saw the cancellation") {
            operation.wasCancelled
        }
        #expect(!flight.isRunning)
    }

    @Test func `After a cancelled run the next one waits for its end`() async throws {
        let stubborn = Operation()
        let flight = flight
        let first = Task {
            try await flight.run { () throws(Failure) in
                try await stubborn.run(.success(1), ignoringCancellation: true)
            }
        }
        try await eventually("it runs") { stubborn.startCount == 1 }
        first.cancel()
        await #expect(throws: Failure.cancelled) { try await first.value }
        let second = Task {
            try await flight.run { () throws(Failure) in try await stubborn.run(.success(2)) }
        }
        try await eventually("the second waits") { flight.waiterCount == 1 }
        #expect(stubborn.startCount == 1)
        stubborn.release()
        #expect(try await second.value == 2)
        #expect(stubborn.peak == 1)
    }

    @Test func `A task that is cancelled already starts nothing`() async throws {
        let operation = Operation()
        operation.release()
        let flight = flight
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await flight.run { () throws(Failure) in try await operation.run(.success(1)) }
        }
        task.cancel()
        await #expect(throws: Failure.cancelled) { try await task.value }
        #expect(operation.startCount == 0)
        #expect(!flight.isRunning)
    }

    @Test func `Thousands of waiters that come and go leave nothing behind`() async throws {
        var generator = SeededGenerator(seed: 3)
        for round in 0..<300 {
            let operation = Operation()
            let waiters = (0..<Int.random(in: 1...8, using: &generator)).map { _ in wait(operation) }
            let cancelled = waiters.map { _ in Bool.random(using: &generator) }
            for (waiter, isCancelled) in zip(waiters, cancelled) where isCancelled {
                if round.isMultiple(of: 2) { await Task.yield() }
                waiter.cancel()
            }
            operation.release()
            for (waiter, isCancelled) in zip(waiters, cancelled) {
                let result = await waiter.value
                #expect(result == .success(1) || (isCancelled && result == .failure(.cancelled)))
            }
            #expect(operation.peak <= 1)
        }
        #expect(flight.waiterCount == 0)
        #expect(!flight.isRunning)
    }
}

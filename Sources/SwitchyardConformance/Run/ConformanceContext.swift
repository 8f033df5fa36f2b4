import Synchronization

/// The context of a check: made before it, torn down after it, however it ends.
protocol ConformanceContext: Sendable {
    /// Removes the check's data from the server and shuts its clients down.
    func tearDown() async throws
}

/// The life of one check: set up, run within the deadline, tear down.
enum ConformanceLife {
    /// An unreachable server must not keep the whole suite waiting for clean-up, but a context that takes long to set up also
    /// takes long to remove.
    private static func tearDownDeadline(after deadline: Duration) -> Duration { max(.seconds(20), deadline / 2) }

    static func run<Context: ConformanceContext>(
        deadline: Duration, begin: @escaping @Sendable () async throws -> Context,
        body: @escaping @Sendable (Context) async throws -> Void
    ) async throws {
        let context = try await withDeadline(deadline, "the harness sets the check up", begin)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await withDeadline(deadline, "the check comes to its end") { try await body(context) })
        } catch {
            outcome = .failure(error)
        }
        do {
            try await withDeadline(tearDownDeadline(after: deadline), "the check cleans up after itself") {
                try await context.tearDown()
            }
        } catch {
            try outcome.get()  // the first failure is the one to report
            throw ConformanceFailure(expectation: "the check cleans up after itself", found: Readable.text(error))
        }
        try outcome.get()
    }
}

/// Runs `body`, but waits for at most `limit`, even if `body` ignores its cancellation.
func withDeadline<Value: Sendable>(
    _ limit: Duration, _ expectation: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let race = Race<Value>()
    let work = Task {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        race.finish(result)
    }
    let timer = Task {
        guard (try? await Task.sleep(for: limit)) != nil else { return }
        race.finish(
            .failure(ConformanceFailure(expectation: "\(expectation) within \(limit)", found: "it was still running")))
    }
    defer {
        work.cancel()
        timer.cancel()
    }
    return try await withTaskCancellationHandler {
        try await race.outcome().get()
    } onCancel: {
        work.cancel()
    }
}

/// Delivers the first of several results to a waiting task.
private final class Race<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Result<Value, any Error>, Never>)
        case finished(Result<Value, any Error>)
    }
    private let state = Mutex(State.open)

    func finish(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<Value, any Error>, Never>? in
            switch state {
            case .finished: return nil
            case .open:
                state = .finished(result)
                return nil
            case .waiting(let waiter):
                state = .finished(result)
                return waiter
            }
        }
        waiter?.resume(returning: result)
    }

    func outcome() async -> Result<Value, any Error> {
        await withCheckedContinuation { waiter in
            let known = state.withLock { state -> Result<Value, any Error>? in
                if case .finished(let result) = state { return result }
                state = .waiting(waiter)
                return nil
            }
            if let known { waiter.resume(returning: known) }
        }
    }
}

/// The namespace of one run of one check, which isolates it on a shared server.
public struct ConformanceNamespace: Sendable, Hashable, CustomStringConvertible {
    /// Lower-case letters and digits, beginning with a letter: suitable for IDs, addresses and topic names.
    public let rawValue: String

    /// Makes a unique namespace.
    public init() {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        rawValue = "t" + String((0..<15).map { _ in alphabet.randomElement(using: &generator)! })
    }

    public var description: String { rawValue }
}

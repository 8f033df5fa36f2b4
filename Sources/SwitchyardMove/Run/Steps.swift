import Switchyard
import SwitchyardBytes

/// Runs a step of a move, and names it in the error of its failure.
nonisolated(nonsending) func during<Result>(
    _ operation: @autoclosure () -> String, _ step: nonisolated(nonsending) () async throws -> Result
) async throws(MoveError) -> Result {
    do { return try await step() } catch { throw .during(operation(), error) }
}

/// Runs a step again while its failure may pass, for half a minute or so. A step can be run twice without harm.
nonisolated(nonsending) func patiently<Result>(
    _ operation: @autoclosure () -> String, _ step: nonisolated(nonsending) () async throws -> Result
) async throws(MoveError) -> Result {
    var random = SystemRandomNumberGenerator()
    let policy = Backoff.Policy(
        initial: .milliseconds(250), factor: 2, maximum: .seconds(15), isFirstImmediate: false)
    var backoff = Backoff(policy, now: .now)
    var attempt = 1
    while true {
        do throws(MoveError) {
            return try await during(operation(), step)
        } catch {
            guard error.isRetryable, attempt < 8 else { throw error }
            attempt += 1
            let pause = backoff.next(now: .now, atLeast: error.retryAfter, using: &random)
            do { try await Task.sleep(for: pause) } catch { throw .stopped }
        }
    }
}

/// Runs a body for each element, several at a time; the first failure ends the others.
func forEach<Element: Sendable>(
    _ elements: some Sequence<Element>, atOnce width: Int, _ body: @escaping @Sendable (Element) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, element) in elements.enumerated() {
            if index >= max(1, width) { try await group.next() }
            try Task.checkCancellation()
            group.addTask { try await body(element) }
        }
        try await group.waitForAll()
    }
}

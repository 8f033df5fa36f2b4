public import Switchyard
import Synchronization

/// A test's controls for one mock client: they script answers, make calls fail or lose their answer, and record calls.
///
/// ```swift
/// storage.controls.fail(.commit, onCall: 2, with: StorageError(.unauthorized, "Refused."))
/// storage.controls.answer(.document, with: .existing("users/alice", ["name": "Alice"]))
/// ```
public final class MockControls<Failure: ClientError>: Sendable {
    private struct Rule {
        /// The script as the test wrote it, for messages.
        let text: String
        let operation: String?
        /// The affected calls from now on, counted from 1.
        let calls: ClosedRange<Int>
        /// `nil` leaves a call to the backend.
        let outcome: @Sendable (MockCall) -> Result<any Sendable, Failure>?
        var seen = 0
    }

    private struct State {
        var rules: [Rule] = []
        var lostAnswers = 0
        var isRecording = false
        var calls: [MockCall] = []
    }

    /// The connection, which this client shares with the others of its device.
    public let network: MockNetwork
    private let state = Mutex(State())
    /// Whether nothing is scripted or recorded, so that calls need no check.
    private let isIdle = Atomic(true)
    private let unavailable: Failure
    private let cancelled: Failure

    init(network: MockNetwork, unavailable: Failure, cancelled: Failure) {
        self.network = network
        self.unavailable = unavailable
        self.cancelled = cancelled
    }

    // MARK: Scripts

    /// Makes a call of `operation` fail, without an effect.
    ///
    /// Each kind of call is an operation: `.commit` is a batch of writes, and transactions use
    /// ``MockOperation/transactionRead`` and ``MockOperation/transactionCommit``. ``failAny(onCall:times:with:)`` makes all
    /// kinds fail.
    ///
    /// - Parameters:
    ///   - operation: The kind of call.
    ///   - call: The first call to fail, counted from now on: 1 is the next.
    ///   - times: The number of consecutive calls to fail.
    ///   - error: The error that the caller gets.
    public func fail<Answer>(
        _ operation: MockOperation<Answer, Failure>, onCall call: Int = 1, times: Int = 1, with error: Failure
    ) { add("fail(\(operation))", operation.name, call, times) { _ in .failure(error) } }

    /// Makes a call of `operation` fail with `code`, without an effect: `fail(.commit, with: .unavailable)`.
    public func fail<Answer>(
        _ operation: MockOperation<Answer, Failure>, onCall call: Int = 1, times: Int = 1, with code: ErrorCode
    ) { fail(operation, onCall: call, times: times, with: Failure(code, "The test made “\(operation)” fail.")) }

    /// Makes a call of any operation fail, without an effect.
    public func failAny(onCall call: Int = 1, times: Int = 1, with error: Failure) {
        add("failAny()", nil, call, times) { _ in .failure(error) }
    }

    /// Answers calls of `operation` without asking the backend.
    public func answer<Answer>(
        _ operation: MockOperation<Answer, Failure>, onCall call: Int = 1, times: Int = 1, with answer: Answer
    ) { add("answer(\(operation))", operation.name, call, times) { _ in .success(answer) } }

    /// Answers calls of `operation` by what they ask for, until ``reset()``.
    ///
    /// ```swift
    /// storage.controls.answer(.document) { call in
    ///     if call.subject == "users/alice" { throw StorageError(.unavailable, "No connection.") }
    ///     return nil
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The kind of call.
    ///   - body: Returns the answer, or throws the error; `nil` leaves the call to the backend. What it throws that is not this
    ///     client's error reaches the caller with the code `.unknown`.
    public func answer<Answer>(
        _ operation: MockOperation<Answer, Failure>, by body: @escaping @Sendable (MockCall) throws -> Answer?
    ) {
        add("answer(\(operation))", operation.name, 1, .max) { call in
            do { return try body(call).map { .success($0) } } catch { return .failure(.wrapping(error)) }
        }
    }

    /// Lets the next writing calls take effect, but loses their answers.
    public func loseAnswers(_ count: Int = 1) {
        change {
            let (sum, overflow) = $0.lostAnswers.addingReportingOverflow(max(0, count))
            $0.lostAnswers = overflow ? .max : sum
        }
    }

    /// The scripts that were not used, or not completely, in the order in which they were added: `fail(send)`, `fail(commit), 2
    /// of 3 times left`. If this list is not empty at the end of a test, the test has scripted a call that never happened.
    public var unused: [String] {
        state.withLock { state in
            let rules = state.rules.filter { $0.calls.upperBound < .max || $0.seen == 0 }.map { rule in
                let used = max(0, rule.seen - rule.calls.lowerBound + 1)
                guard used > 0 else { return rule.text }
                return "\(rule.text), \(rule.calls.count - used) of \(rule.calls.count) times left"
            }
            return state.lostAnswers > 0 ? rules + ["loseAnswers(\(state.lostAnswers))"] : rules
        }
    }

    /// Removes unused scripts, failures and lost answers.
    public func reset() {
        change {
            $0.rules = []
            $0.lostAnswers = 0
        }
    }

    // MARK: Recording

    /// Whether calls are recorded. Off by default, since the record grows with every call.
    public var isRecording: Bool {
        get { state.withLock { $0.isRecording } }
        set { change { $0.isRecording = newValue } }
    }

    /// The calls since recording began, oldest first.
    public var calls: [MockCall] { state.withLock { $0.calls } }
    public func forgetCalls() { state.withLock { $0.calls = [] } }

    // MARK: The client's side

    /// Whether a call can go straight to the backend.
    var isQuiet: Bool { isIdle.load(ordering: .relaxed) && network.isInstant }

    /// Sends a call to the server.
    ///
    /// - Returns: The scripted answer, if there is one.
    func enter<Answer>(
        _ operation: MockOperation<Answer, Failure>, _ subject: @autoclosure () -> String = "",
        needsNetwork: Bool = false
    ) async throws(Failure) -> Answer? {
        let scripted = record(operation.name, subject())
        try await simulateCall()
        if needsNetwork && !network.isOnline { throw unavailable }
        return try scripted.flatMap { (result) throws(Failure) in try result.get() as? Answer }
    }

    /// Sends a call to the server, ignoring scripts.
    func reach() async throws(Failure) {
        try await simulateCall()
        if !network.isOnline { throw unavailable }
    }

    private func simulateCall() async throws(Failure) {
        switch await network.simulateCall() {
        case .arrived: break
        case .cancelled: throw cancelled
        case .refused:
            throw Failure(
                .overloaded,
                "The call was not sent: too many calls to the mock are in progress already. Make fewer calls at a time, or try "
                    + "again later.")
        }
    }

    /// Like ``enter(_:_:needsNetwork:)``, for code that must not wait: returns the scripted failure.
    func failure<Answer>(_ operation: MockOperation<Answer, Failure>, _ subject: @autoclosure () -> String) -> Failure?
    {
        guard !isIdle.load(ordering: .relaxed) else { return nil }
        if case .failure(let error) = record(operation.name, subject()) { return error }
        return nil
    }

    /// Whether the answer of the writing call that just took effect is lost.
    func losesAnswer() -> Bool {
        guard !isIdle.load(ordering: .relaxed) else { return false }
        return state.withLock { state in
            guard state.lostAnswers > 0 else { return false }
            state.lostAnswers -= 1
            return true
        }
    }

    /// Throws if the answer is lost, for services without a queue.
    func leave() throws(Failure) { if losesAnswer() { throw unavailable } }

    private func record(_ operation: String, _ subject: @autoclosure () -> String) -> Result<any Sendable, Failure>? {
        guard !isIdle.load(ordering: .relaxed) else { return nil }
        let call = MockCall(operation: operation, subject: subject())
        let outcomes = state.withLock { state in
            if state.isRecording { state.calls.append(call) }
            var outcomes: [@Sendable (MockCall) -> Result<any Sendable, Failure>?] = []
            for index in state.rules.indices where state.rules[index].operation ?? operation == operation {
                state.rules[index].seen += 1
                if state.rules[index].calls.contains(state.rules[index].seen) {
                    outcomes.append(state.rules[index].outcome)
                }
            }
            state.rules.removeAll { $0.seen >= $0.calls.upperBound }
            return outcomes
        }
        // Outside the lock, because a test's own closure may use these controls.
        return outcomes.lazy.compactMap { $0(call) }.first
    }

    private func add(
        _ text: String, _ operation: String?, _ call: Int, _ times: Int,
        _ outcome: @escaping @Sendable (MockCall) -> Result<any Sendable, Failure>?
    ) {
        let first = max(1, call)
        let (last, overflow) = first.addingReportingOverflow(max(1, times) - 1)
        change {
            $0.rules.append(
                Rule(text: text, operation: operation, calls: first...(overflow ? .max : last), outcome: outcome))
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            isIdle.store(
                state.rules.isEmpty && state.lostAnswers == 0 && !state.isRecording, ordering: .relaxed)
        }
    }
}

extension StorageClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    ///
    /// ```swift
    /// phone.storage.mock?.controls.fail(.commit, with: .unavailable)
    /// ```
    public var mock: MockStorageClient? { unwrapped(as: MockStorageClient.self) }
}

extension AuthClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    public var mock: MockAuthClient? { unwrapped(as: MockAuthClient.self) }
}

extension FileStorageClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    public var mock: MockFileStorageClient? { unwrapped(as: MockFileStorageClient.self) }
}

extension MessagingClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    public var mock: MockMessagingClient? { unwrapped(as: MockMessagingClient.self) }
}

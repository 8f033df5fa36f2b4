import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardWire
import Synchronization

/// The single connection of a project to its realtime service, controlled by a ``RealtimeMachine``.
///
/// ```swift
/// let channel = try socket.join("room:1", RealtimeConfiguration(isPrivate: true))
/// while let event = try await channel.next() { … }
/// ```
final class RealtimeSocket: Sendable {
    /// The maximum number of events waiting for the reader of a channel.
    static let inboxLimit = 10_000

    /// Called with each event and the machine's actions, for transcripts.
    typealias Trace = @Sendable (RealtimeMachine.Event, [RealtimeMachine.Action]) -> Void

    private struct State {
        var machine: RealtimeMachine
        var inboxes: [String: RealtimeInbox] = [:]
        var timers: [RealtimeMachine.Timer: (number: Int, task: Task<Void, Never>)] = [:]
        var answers: [Int: CheckedContinuation<Result<JSON, RealtimeFailure>, Never>] = [:]
        var cancelled: Set<Int> = []
        var lastNumber = 0
        /// Distinguishes the current connection from abandoned ones.
        var link = 0
        var outgoing: StreamBuffer<RealtimeMessage, Never>?
        var reader: Task<Void, Never>?
        var follower: Task<Void, Never>?
        /// The number of token requests, and the latest one whose answer was used.
        var tokenQuestions = 0
        var answeredQuestion = 0
    }

    private let address: String
    private let tokens: SupabaseTokens
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let trace: Trace?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - address: The service's address, without a trailing slash.
    ///   - tokens: The tokens for joining channels, which follow the signed-in user.
    ///   - mayPoll: Whether to use long polling if a web socket fails.
    init(
        _ address: String, tokens: SupabaseTokens, transport: any Transport,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        _ settings: SupabaseRealtime = SupabaseRealtime(), mayPoll: Bool = true,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }, trace: Trace? = nil
    ) {
        self.address = address
        self.tokens = tokens
        self.transport = transport
        self.clock = clock
        self.trace = trace
        state = Mutex(
            State(
                machine: RealtimeMachine(
                    heartbeat: settings.heartbeat, alwaysPolls: settings.mode == .longPolling, mayPoll: mayPoll,
                    now: { now().microseconds / 1000 }, jitter: jitter)))
        guard let states = tokens.states else { return }
        let follower = Task { [weak self] in
            for await _ in states {
                guard let self else { return }
                await self.followToken()
            }
        }
        state.withLock { $0.follower = follower }
    }

    deinit {
        state.withLock { state in
            state.follower?.cancel()
            state.reader?.cancel()
            for timer in state.timers.values { timer.task.cancel() }
        }
    }

    /// Joins a channel, and joins it again whenever needed.
    ///
    /// - Throws: `.topicInUse` while there is a channel for this topic, since a second join would end the first.
    func join(
        _ topic: String, _ configuration: RealtimeConfiguration, inboxLimit: Int = RealtimeSocket.inboxLimit
    ) throws(RealtimeFailure) -> RealtimeChannel {
        let inbox = RealtimeInbox(limit: inboxLimit)
        let isFree = state.withLock { state in
            guard state.inboxes[topic] == nil, !state.machine.isClosed else { return false }
            state.inboxes[topic] = inbox
            handle(.join(wireName(topic), configuration), &state)
            return true
        }
        guard isFree else { throw RealtimeFailure(.topicInUse) }
        return RealtimeChannel(topic, inbox, on: self)
    }

    /// Takes the current token at once, before joining channels for another session.
    func followToken() async {
        guard state.withLock({ $0.machine.isInUse }) else { return }
        let answer = await token(isRefused: false)
        // Whether a connection can be opened without a token is decided when opening one.
        if case .tokenDelayed = answer.event { return }
        state.withLock { _ = take(answer, &$0) }
    }

    /// Joins every channel again, after finding an unreported change. This wakes up a service that has silently lost its
    /// database.
    func rejoin() { handle(.rejoin) }

    func holds(_ topic: String, _ inbox: RealtimeInbox) -> Bool { state.withLock { $0.inboxes[topic] === inbox } }

    /// Ends all channels. None can be joined afterwards.
    func close() {
        state.withLock { state in
            state.follower?.cancel()
            handle(.close, &state)
        }
    }

    func leave(_ topic: String, _ inbox: RealtimeInbox) {
        state.withLock { state in
            guard state.inboxes[topic] === inbox else { return }
            handle(.leave(wireName(topic)), &state)
        }
    }

    @discardableResult
    func push(
        _ topic: String, _ inbox: RealtimeInbox, event: String, payload: JSON, bytes: [UInt8]?
    ) async throws(RealtimeFailure) -> JSON {
        let id = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<JSON, RealtimeFailure>, Never>) in
                state.withLock { state in
                    guard state.cancelled.remove(id) == nil else {
                        return continuation.resume(returning: .failure(RealtimeFailure(.closed)))
                    }
                    guard state.inboxes[topic] === inbox else {
                        return continuation.resume(returning: .failure(RealtimeFailure(.closed)))
                    }
                    state.answers[id] = continuation
                    handle(
                        .push(
                            RealtimeMachine.Push(
                                id: id, topic: wireName(topic), event: event, payload: payload, bytes: bytes)), &state)
                }
            }
        } onCancel: {
            state.withLock { state in
                guard let continuation = state.answers.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return
                }
                continuation.resume(returning: .failure(RealtimeFailure(.unanswered, "the task was cancelled")))
            }
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        return try result.get()
    }

    // MARK: Performing actions

    private func wireName(_ topic: String) -> String { "realtime:\(topic)" }

    private func handle(_ event: RealtimeMachine.Event) {
        state.withLock { handle(event, &$0) }
    }

    /// Runs under the lock and waits for nothing, so that actions are performed in order.
    private func handle(_ event: RealtimeMachine.Event, _ state: inout State) {
        let actions = state.machine.handle(event)
        trace?(event, actions)
        for action in actions { perform(action, &state) }
    }

    private func perform(_ action: RealtimeMachine.Action, _ state: inout State) {
        switch action {
        case .connect(let polls): connect(polls, &state)
        case .disconnect: disconnect(&state)
        case .fetchToken(let isRefused):
            Task { [weak self] in await self?.fetchToken(isRefused: isRefused) }
        case .send(let message): state.outgoing?.yield(message)
        case .deliver(let topic, let event): state.inboxes[name(of: topic)]?.deliver(event)
        case .end(let topic, let failure):
            let failure = failure.diagnosed(token: state.machine.token, issuer: tokens.issuer)
            state.inboxes.removeValue(forKey: name(of: topic))?.end(failure)
        case .answer(let id, let result): state.answers.removeValue(forKey: id)?.resume(returning: result)
        case .schedule(let timer, let delay):
            state.lastNumber += 1
            let number = state.lastNumber
            state.timers[timer]?.task.cancel()
            let task = Task { [weak self, clock] in
                guard (try? await clock.sleep(for: delay)) != nil else { return }
                self?.fired(timer, number)
            }
            state.timers[timer] = (number, task)
        case .cancel(let timer): state.timers.removeValue(forKey: timer)?.task.cancel()
        }
    }

    private func name(of topic: String) -> String { String(topic.dropFirst("realtime:".count)) }

    private func fired(_ timer: RealtimeMachine.Timer, _ number: Int) {
        state.withLock { state in
            guard state.timers[timer]?.number == number else { return }
            state.timers[timer] = nil
            handle(.timer(timer), &state)
        }
    }

    private func fetchToken(isRefused: Bool) async {
        while true {
            let answer = await token(isRefused: isRefused, isAnswer: true)
            if state.withLock({ take(answer, &$0) }) { return }
        }
    }

    /// The result of a token request, with the number of the request.
    private struct TokenAnswer {
        let question: Int
        let event: RealtimeMachine.Event
    }

    private func token(isRefused: Bool, isAnswer: Bool = false) async -> TokenAnswer {
        let question = state.withLock { state in
            state.tokenQuestions += 1
            return state.tokenQuestions
        }
        do throws(SupabaseTokens.Failure) {
            let token = try await tokens.credentials(isRefused: isRefused).user?.value.reveal()
            return TokenAnswer(question: question, event: .token(token, isAnswer: isAnswer))
        } catch {
            let isDelayed = error.isTemporary || error.code == .cancelled
            return TokenAnswer(
                question: question,
                event: isDelayed
                    ? .tokenDelayed(isAnswer: isAnswer) : .tokenDenied(RealtimeFailure(error), isAnswer: isAnswer))
        }
    }

    /// Passes an answer to the machine, unless a later request was answered before, since another user may have signed in
    /// between.
    ///
    /// - Returns: Whether it was the latest.
    private func take(_ answer: TokenAnswer, _ state: inout State) -> Bool {
        guard answer.question > state.answeredQuestion else { return false }
        state.answeredQuestion = answer.question
        handle(answer.event, &state)
        return true
    }

    // MARK: Connection

    private func disconnect(_ state: inout State) {
        state.link += 1
        state.reader?.cancel()
        state.reader = nil
        state.outgoing?.finish(.success(()))
        state.outgoing = nil
    }

    private func connect(_ polls: Bool, _ state: inout State) {
        disconnect(&state)
        let number = state.link
        let outgoing = StreamBuffer<RealtimeMessage, Never>(.all)
        state.outgoing = outgoing
        // While no user is signed in, channels are joined with the key of the connection.
        let (address, key, transport, clock) = (address, tokens.serviceKey ?? tokens.key, transport, clock)
        state.reader = Task { [weak self] in
            guard await self?.takeToken(on: number) == true else { return }
            let link: any RealtimeLink
            do throws(TransportError) {
                link =
                    polls
                    ? try await LongPollLink(address, key: key, transport: transport, clock: clock)
                    : try await WebSocketLink(address, key: key, transport: transport)
            } catch {
                self?.received(RealtimeMachine.Event(refusal: error), on: number)
                return
            }
            if self?.received(.opened(polls: polls), on: number) == true {
                let sender = Task {
                    do throws(TransportError) {
                        while let message = await outgoing.next() { try await link.send(message) }
                    } catch {
                        self?.received(.broken, on: number)
                    }
                }
                await RealtimeSocket.read(link) { self?.received($0, on: number) ?? false }
                sender.cancel()
            }
            // In a separate task, since this one may be cancelled.
            await Task { await link.close() }.value
        }
    }

    /// Gets the token for a new connection.
    ///
    /// - Returns: Whether there is a token or no user is signed in, and the connection is still the current one.
    private func takeToken(on number: Int) async -> Bool {
        while true {
            let answer = await token(isRefused: false)
            let isTaken = state.withLock { state -> Bool? in
                guard state.link == number else { return nil }
                return take(answer, &state)
            }
            guard let isTaken else { return false }
            guard isTaken else { continue }
            guard case .token = answer.event else { return false }
            return state.withLock { $0.link == number }
        }
    }

    /// Reads outside the socket, so that an idle connection does not keep it alive.
    ///
    /// - Parameter handle: Returns whether to continue.
    private static func read(_ link: any RealtimeLink, _ handle: (RealtimeMachine.Event) -> Bool) async {
        do throws(TransportError) {
            while let event = try await link.next() {
                let isWanted =
                    switch event {
                    case .message(let message): handle(.received(message))
                    case .renewed: handle(.opened(polls: true))
                    }
                guard isWanted else { return }
            }
            _ = handle(.broken)
        } catch {
            _ = handle(.broken)
        }
    }

    /// - Returns: Whether the connection is still the current one.
    @discardableResult
    private func received(_ event: RealtimeMachine.Event, on number: Int) -> Bool {
        state.withLock { state in
            guard state.link == number else { return false }
            handle(event, &state)
            return state.link == number
        }
    }
}

extension RealtimeMachine {
    fileprivate var isClosed: Bool { phase == .closed }
    /// Whether tokens matter now.
    fileprivate var isInUse: Bool { phase == .open || phase == .connecting }
}

extension RealtimeMachine.Event {
    /// The event for a connection that could not be opened.
    fileprivate init(refusal error: TransportError) {
        if error.code == .unsupported {
            self = .refused(status: 501, reason: nil)
        } else if error.code == .webSocketRefused, let response = error.response {
            let body = try? JSON(parsing: response.body)
            self = .refused(status: response.status, reason: body?["error"]?.string)
        } else {
            self = .broken
        }
    }
}

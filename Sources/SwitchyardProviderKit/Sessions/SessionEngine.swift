public import Switchyard
import SwitchyardBytes
import Synchronization

/// The session of an auth client: carries out the decisions of `SessionMachine`.
///
/// A provider signs in itself and passes the outcome to ``begin(_:tokens:attempt:)``. From then on it gets tokens here, and
/// reports what its other calls find out. It supplies one call, the refresh.
///
/// The engine saves the session, shares one refresh among all callers and among all processes that use the same folder, and
/// keeps a slow answer from replacing a newer session.
public actor SessionEngine {
    /// Asks the server for new tokens. Runs to its end unless the session or the client ends meanwhile.
    public typealias Refresh = @Sendable (AuthSession) async -> RefreshAnswer

    private typealias Outcome = Result<AccessToken, AuthError>

    private var machine: SessionMachine
    private let store: any SessionStore
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (InfrastructureEvent.Kind) -> Void
    private let refresh: Refresh
    private nonisolated let states = SessionStates()
    private nonisolated let wipeLog = Mutex((state: AuthState.unknown, requests: [WipeRequest]()))
    private var mark: StoredSessionVersion?
    private var lastNotice: String?
    private var tasks: [SessionMachine.RefreshNumber: Task<Void, Never>] = [:]
    private var waiters: [SessionMachine.Waiter: CheckedContinuation<Outcome, Never>] = [:]
    private var lastWaiter = 0
    private var isShutDown = false
    /// Reads a locked store again, so that streams learn when the device has been unlocked.
    private var unlocking: Task<Void, Never>?
    /// Whether the last change left a session on the device that it was to end.
    private var isUndoneByRestart = false

    /// - Parameters:
    ///   - now: The time of day, for token lifetimes.
    ///   - report: Called for refreshes, and for notices.
    package init(
        policy: SessionMachine.Policy = SessionMachine.Policy(), store: any SessionStore,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (InfrastructureEvent.Kind) -> Void = { _ in }, refresh: @escaping Refresh
    ) {
        machine = SessionMachine(policy: policy)
        self.store = store
        self.clock = clock
        self.now = now
        self.report = report
        self.refresh = refresh
    }

    /// An engine for an auth client that is made in `context`: on disk in its folder, in the keychain on devices that have one,
    /// or in memory if the context has no folder.
    ///
    /// - Parameters:
    ///   - context: What the module was given: the folder, the clocks and the observer.
    ///   - provider: For the events of the observer.
    ///   - name: The saved session's name. It has to be another one for each project and server, so that no session is sent to
    ///     the wrong one.
    ///   - refresh: The server's call for new tokens.
    /// - Throws: `.localStore` if the folder cannot be created.
    public init(
        _ context: ModuleContext, of provider: InfrastructureProvider, named name: String, refresh: @escaping Refresh
    ) throws(InfrastructureError) {
        self.init(
            store: SessionStores.make(
                in: try context.folder("auth", isShared: true), name: name, context.localFiles), clock: context.clock,
            now: context.now,
            report: { event in
                context.observer.observe(InfrastructureEvent(service: .auth, provider: provider, kind: event))
            }, refresh: refresh)
    }

    // MARK: State

    public var state: AuthState {
        readStoreIfChanged()
        return machine.state
    }

    /// The session in one step.
    public func snapshot(of issuer: InfrastructureProvider) -> SessionSnapshot {
        readStoreIfChanged()
        return SessionSnapshot(
            issuer: issuer, state: machine.state, token: machine.tokenAtHand(at: now()), wipeRequests: wipeRequests)
    }

    public nonisolated var stateStream: SnapshotStream<AuthState, Never> {
        SnapshotStream { [self] listener in
            let stop = states.listen(listener)
            Task { await readStoreIfChanged() }
            return stop
        }
    }

    public nonisolated var wipeRequests: [WipeRequest] { wipeLog.withLock { $0.requests } }

    package nonisolated var listenerCount: Int { states.listenerCount }

    /// The session to sign out of, even if expired.
    public var session: AuthSession? {
        readStoreIfChanged()
        return machine.session
    }

    /// The session to make a call with; with `id`, it must be that session.
    public func currentSession(_ id: String? = nil) throws(AuthError) -> AuthSession {
        readStoreIfChanged()
        return try machine.currentSession(id).get()
    }

    // MARK: Coming and going

    /// - Throws: `.shutDown`.
    package func checkOpen() throws(AuthError) { if isShutDown { throw .sessionShutDown } }

    /// Call this before a sign-in asks the server, and pass the result to ``begin(_:tokens:attempt:)`` afterwards.
    public func beginAttempt() throws(AuthError) -> Int {
        try checkOpen()
        readStoreIfChanged()
        return machine.nextAttempt()
    }

    /// Makes the outcome of a sign-in the session of this device.
    ///
    /// - Throws: `.sessionChanged` if a sign-out, or a sign-in that was begun later, came first.
    @discardableResult
    public func begin(
        _ user: AuthUser, tokens: SessionTokens, attempt: Int
    ) throws(AuthError) -> AuthSession {
        try checkOpen()
        let session = AuthSession(id: RandomID.make(), user: user, tokens: tokens)
        guard case .kept = run(.began(session, attempt: attempt)) else { throw .sessionChanged }
        return session
    }

    /// Saves the account's current state on the server, with new tokens if the answer had any.
    ///
    /// New tokens may have ended the old ones, so they are stored even if the client was shut down meanwhile.
    ///
    /// - Throws: `.sessionChanged` if another session replaced it.
    public func update(
        _ user: AuthUser, tokens: SessionTokens? = nil, in session: AuthSession
    ) throws(AuthError) {
        if isShutDown, let tokens {
            let change = SessionChange(.update(user, tokens, revision: session.revision), in: session.id)
            guard case .kept = store.apply(change).result else { throw .sessionChanged }
            return
        }
        readStoreIfChanged()
        try checkOpen()
        guard case .kept = run(.updated(user, tokens, session: session.id)) else { throw .sessionChanged }
    }

    /// - Throws: `.sessionChanged` if another session replaced `session`; `.localStore` if the device cannot forget the
    ///   session, after which everyone is signed out until the process ends, and another attempt is worth it.
    public func end(_ end: SignOut, _ session: AuthSession?) throws(AuthError) {
        readStoreIfChanged()
        try checkOpen()
        if isUndoneByRestart, machine.session == nil {
            apply(SessionChange(.signOut(end), in: nil))
        } else {
            run(.ended(end, session: session?.id))
        }
        if machine.session != nil { throw .sessionChanged }
        // The server refuses a deleted account anyway.
        if isUndoneByRestart, end.reason == .byUser { throw .sessionStays }
    }

    @discardableResult
    private func apply(_ change: SessionChange) -> SessionChangeResult {
        let outcome = store.apply(change)
        mark = outcome.mark
        isUndoneByRestart = outcome.isUndoneByRestart
        if let notice = outcome.notice { reportNotice(notice) }
        return outcome.result
    }

    /// The server answered a call other than a refresh that it no longer accepts the tokens of `session`.
    public func refused(_ session: AuthSession) {
        run(.refused(session: session.id, revision: session.revision))
    }

    public func shutDown() {
        guard !isShutDown else { return }
        isShutDown = true
        run(.shutDown)
        for task in tasks.values { task.cancel() }
        unlocking?.cancel()
        states.finish()
    }

    // MARK: Tokens

    /// - Parameters:
    ///   - session: The session the caller is bound to; `nil` for the current one.
    ///   - refreshing: Whether to ask for a new token even if the current one is still valid.
    public func accessToken(
        of session: AuthSession? = nil, refreshing: Bool = false
    ) async throws(AuthError) -> AccessToken {
        readStoreIfChanged()
        lastWaiter += 1
        let waiter = lastWaiter
        let outcome: Outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: .failure(.waiterCancelled)) }
                waiters[waiter] = continuation
                run(.tokenWanted(waiter, session: session?.id, refreshing: refreshing))
            }
        } onCancel: {
            // Runs after the continuation is stored: until then this actor is busy.
            Task { await self.leave(waiter) }
        }
        return try outcome.get()
    }

    package var waiterCount: Int { waiters.count }

    private func leave(_ waiter: SessionMachine.Waiter) {
        if waiters[waiter] != nil { run(.waiterLeft(waiter)) }
    }

    private func startRefresh(_ number: SessionMachine.RefreshNumber) {
        tasks[number] = Task { [store, clock] in
            do throws(AuthError) {
                // Held until the answer is stored: only then may another process read the session it has to refresh.
                let lease = try await store.lease(clock)
                if let session = prepared(number) {
                    let answer = await refresh(session)
                    run(.answered(number, answer))
                }
                lease.release()
            } catch {
                run(.answered(number, .failed(error)))
            }
            tasks[number] = nil
        }
    }

    /// - Returns: The session to refresh; `nil` if that is no longer needed.
    private func prepared(_ number: SessionMachine.RefreshNumber) -> AuthSession? {
        readStoreIfChanged()
        var call: AuthSession?
        run(.prepared(number), call: &call)
        return call
    }

    // MARK: The machine

    /// Reads the store if another process has changed it, or if it has not been read yet.
    private func readStoreIfChanged() {
        guard !isShutDown else { return }
        let stored = store.mark
        guard machine.isUnread || stored != mark else { return }
        switch store.read() {
        case .found(let record, let notice):
            // The older mark: at worst the store is read once more.
            mark = stored
            if let notice { reportNotice(notice) }
            run(.found(record))
        case .unreadable(let notice):
            reportNotice(notice)
            run(.unreadable)
            if machine.isUnread, unlocking == nil { unlocking = retryReading() }
        }
    }

    private func retryReading() -> Task<Void, Never> {
        Task { [weak self, clock] in
            var pause = Duration.seconds(1)
            while (try? await clock.sleep(for: pause)) != nil {
                guard let self, await isStillLocked() else { return }
                pause = min(pause * 2, .seconds(15))
            }
        }
    }

    private func isStillLocked() -> Bool {
        readStoreIfChanged()
        guard machine.isUnread, !isShutDown else {
            unlocking = nil
            return false
        }
        return true
    }

    private func reportNotice(_ notice: String) {
        guard notice != lastNotice else { return }
        lastNotice = notice
        report(.notice(notice))
    }

    @discardableResult
    private func run(_ event: SessionMachine.Event) -> SessionChangeResult? {
        var call: AuthSession?
        return run(event, call: &call)
    }

    /// - Returns: The outcome of the change that the event caused, if any.
    @discardableResult
    private func run(_ event: SessionMachine.Event, call: inout AuthSession?) -> SessionChangeResult? {
        var result: SessionChangeResult?
        for action in machine.handle(event, at: now()) {
            switch action {
            case .prepare(let number): startRefresh(number)
            case .call(_, let session): call = session
            case .abandon(let number): tasks[number]?.cancel()
            case .change(let change):
                let changed = apply(change)
                result = changed
                run(.changed(change, changed), call: &call)
            case .resume(let waiter, let outcome): waiters.removeValue(forKey: waiter)?.resume(returning: outcome)
            case .publish(let state):
                wipeLog.withLock { wipeLog in
                    wipeLog.state.recordWipeRequest(to: state, in: &wipeLog.requests)
                    // An unknown state never triggers a wipe.
                    if state != .unknown, state != .locked { wipeLog.state = state }
                }
                states.publish(state)
            case .refreshed(let failure): report(.tokenRefreshed(failure: failure.map { .init($0) }))
            }
        }
        return result
    }
}

package import Switchyard

/// Makes all decisions about a session: events in, actions out. It has no clock, no file and no connection.
///
/// ```text
/// unknown ──► locked ◄──┐                       token wanted ──► prepare ──► (the device's lease, the store read again)
///    │           │      │                                           │ adopted what another process fetched
///    ▼           ▼      │                                           ▼
///    └──► signed out ◄──┴──► signed in ◄──► expired                call ──► renewed │ refused │ failed
/// ```
///
/// There is one refresh at a time, bound to the session that it began with: as soon as that session ends, waiting callers get
/// an error, and the server's answer is dropped. A failure never changes the session; only the server's refusal does.
package struct SessionMachine: Sendable {
    package struct Policy: Sendable, Hashable {
        /// From this remaining lifetime on, a new token is fetched while callers still get the current one.
        package var early: Duration
        /// From this remaining lifetime on, callers wait for the new token.
        package var late: Duration
        /// How long to wait after a failed early refresh.
        package var pause: Duration

        package init(
            early: Duration = .seconds(300), late: Duration = .seconds(30), pause: Duration = .seconds(30)
        ) {
            self.early = early
            self.late = late
            self.pause = pause
        }
    }

    package typealias Waiter = Int
    package typealias RefreshNumber = Int

    package enum Event: Sendable {
        /// The store's contents, read for the first time or after a change.
        case found(SessionRecord)
        /// The store cannot be read now.
        case unreadable
        /// A sign-in has succeeded; see ``SessionMachine/nextAttempt()``.
        case began(AuthSession, attempt: Int)
        /// - `session`: The session the caller is bound to; `nil` for the current one.
        case tokenWanted(Waiter, session: String?, refreshing: Bool)
        case waiterLeft(Waiter)
        /// The lease is held, and the store has been read again.
        case prepared(RefreshNumber)
        case answered(RefreshNumber, RefreshAnswer)
        case updated(AuthUser, SessionTokens?, session: String)
        case ended(SignOut, session: String?)
        /// The server said, outside a refresh, that it does not accept the session's tokens.
        case refused(session: String, revision: Int)
        /// Follows the action of the same change, before any other event.
        case changed(SessionChange, SessionChangeResult)
        case shutDown
    }

    package enum Action: Sendable {
        /// Take the lease, read the store again, and send ``Event/prepared(_:)``.
        case prepare(RefreshNumber)
        case call(RefreshNumber, AuthSession)
        /// The answer is no longer needed.
        case abandon(RefreshNumber)
        /// Apply the change, and send ``Event/changed(_:_:)`` at once.
        case change(SessionChange)
        case resume(Waiter, Result<AccessToken, AuthError>)
        case publish(AuthState)
        /// `nil` for a success.
        case refreshed(failure: AuthError?)
    }

    private enum Phase: Sendable {
        case unknown, locked
        case known(SessionRecord)
    }

    private struct Refresh: Sendable {
        let number: RefreshNumber
        let sessionID: String
        /// The revision when it was requested: the store may have a newer one by the time the lease is held.
        var revision: Int
        var waiters: [(id: Waiter, refreshing: Bool)] = []
        /// The server's refusal, until it is clear whether it still applies.
        var refusal: AuthError?
    }

    package let policy: Policy
    private var phase = Phase.unknown
    private var refresh: Refresh?
    private var lastRefresh: RefreshNumber = 0
    private var pauseUntil: Timestamp?
    /// The newest attempt that became a session, or was overtaken by a sign-out.
    private var settledAttempt = 0
    private var lastAttempt = 0
    private var isShutDown = false

    package init(policy: Policy = Policy()) { self.policy = policy }

    // MARK: What is known

    package var state: AuthState {
        switch phase {
        case .unknown: .unknown
        case .locked: .locked
        case .known(let record): record.state
        }
    }

    package var session: AuthSession? {
        if case .known(let record) = phase { record.session } else { nil }
    }

    /// Whether the store has to be read first.
    package var isUnread: Bool { if case .known = phase { false } else { true } }
    package var isRefreshing: Bool { refresh != nil }

    /// The session to make a call with.
    package func currentSession(_ id: String? = nil) -> Result<AuthSession, AuthError> {
        if isShutDown { return .failure(.sessionShutDown) }
        switch phase {
        case .unknown, .locked: return .failure(.sessionLocked)
        case .known(let record):
            guard let session = record.session else { return .failure(id == nil ? .noSession : .sessionChanged) }
            if let id, session.id != id { return .failure(.sessionChanged) }
            return session.tokens == nil ? .failure(.sessionOver) : .success(session)
        }
    }

    /// The number of a sign-in that is about to ask the server: the one begun last wins.
    package mutating func nextAttempt() -> Int {
        lastAttempt += 1
        return lastAttempt
    }

    // MARK: Events

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        let before = state
        var actions = react(to: event, at: now)
        if state != before { actions.append(.publish(state)) }
        return actions
    }

    private mutating func react(to event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .found(let record): return adopt(record)
        case .unreadable:
            // A session that is in use stays so when the device locks again.
            if isUnread { phase = .locked }
            return []
        case .began(let session, let attempt):
            // A later sign-in, or a sign-out, has already won.
            guard !isShutDown, attempt > settledAttempt else { return [] }
            settledAttempt = attempt
            return [.change(SessionChange(.begin(session), in: nil))]
        case .tokenWanted(let waiter, let session, let refreshing):
            return want(waiter, session, refreshing, at: now)
        case .waiterLeft(let waiter):
            guard let index = refresh?.waiters.firstIndex(where: { $0.id == waiter }) else { return [] }
            // The refresh continues: tokens issued by the server must not be lost.
            refresh?.waiters.remove(at: index)
            return [.resume(waiter, .failure(.waiterCancelled))]
        case .prepared(let number): return prepared(number, at: now)
        case .answered(let number, let answer): return answered(number, answer, at: now)
        case .updated(let user, let tokens, let id):
            guard !isShutDown, let session, session.id == id else { return [] }
            return [.change(SessionChange(.update(user, tokens, revision: session.revision), in: id))]
        case .ended(let end, let id):
            guard !isShutDown else { return [] }
            if let id, let session, session.id != id { return [] }
            // A sign-out by the user also cancels sign-ins in progress.
            if end.reason != .byServer { settledAttempt = lastAttempt }
            if id == nil, session == nil, !end.wipesLocalData, !isUnread { return [] }
            return [.change(SessionChange(.signOut(end), in: id))]
        case .refused(let id, let revision):
            guard !isShutDown, let session, session.id == id, session.revision == revision else { return [] }
            return [.change(SessionChange(.expire(revision: revision), in: id))]
        case .changed(let change, let result): return changed(change, result)
        case .shutDown: return shutDown()
        }
    }

    // MARK: Tokens

    /// The token, if it lasts so long that it need not be refreshed yet.
    package func tokenAtHand(at now: Timestamp) -> AccessToken? {
        guard case .success(let session) = currentSession(nil), let tokens = session.tokens,
            tokens.remaining(at: now) > policy.early
        else { return nil }
        return session.accessToken
    }

    private mutating func want(
        _ waiter: Waiter, _ id: String?, _ refreshing: Bool, at now: Timestamp
    ) -> [Action] {
        let session: AuthSession
        switch currentSession(id) {
        case .failure(let error): return [.resume(waiter, .failure(error))]
        case .success(let present): session = present
        }
        guard let tokens = session.tokens, let access = session.accessToken else { return [] }
        let remaining = tokens.remaining(at: now)
        if !refreshing, remaining > policy.late {
            var actions = [Action.resume(waiter, .success(access))]
            if remaining <= policy.early, refresh == nil, pauseUntil.map({ now >= $0 }) ?? true {
                actions.append(begin(session))
            }
            return actions
        }
        var actions: [Action] = []
        if refresh == nil { actions.append(begin(session)) }
        refresh?.waiters.append((waiter, refreshing))
        return actions
    }

    private mutating func begin(
        _ session: AuthSession, for waiters: [(id: Waiter, refreshing: Bool)] = []
    ) -> Action {
        lastRefresh += 1
        refresh = Refresh(
            number: lastRefresh, sessionID: session.id, revision: session.revision, waiters: waiters)
        return .prepare(lastRefresh)
    }

    private mutating func prepared(_ number: RefreshNumber, at now: Timestamp) -> [Action] {
        guard let refresh, refresh.number == number, let session, session.id == refresh.sessionID else {
            return [.abandon(number)]
        }
        if session.revision > refresh.revision, let tokens = session.tokens, tokens.remaining(at: now) > policy.late {
            // Another process was faster; its token is newer than the one to be refreshed.
            return [.abandon(number)] + finish(refreshed: session)
        }
        self.refresh?.revision = session.revision
        return [.call(number, session)]
    }

    private mutating func answered(_ number: RefreshNumber, _ answer: RefreshAnswer, at now: Timestamp) -> [Action] {
        guard let refresh, refresh.number == number else { return [] }
        switch answer {
        case .renewed(let tokens, let user):
            let change = SessionChange(.renew(tokens, user, revision: refresh.revision), in: refresh.sessionID)
            return [.refreshed(failure: nil), .change(change)]
        case .refused(let end, let error):
            let kind: SessionChange.Kind =
                switch end {
                case .expired: .expire(revision: refresh.revision)
                case .signedOut: .signOut(SignOut(.byServer))
                }
            self.refresh?.refusal = error
            return [.refreshed(failure: error), .change(SessionChange(kind, in: refresh.sessionID))]
        case .failed(let error):
            self.refresh = nil
            let (seconds, fraction) = (policy.pause.components.seconds, policy.pause.components.attoseconds)
            pauseUntil = Timestamp(microseconds: now.microseconds + seconds * 1_000_000 + fraction / 1_000_000_000_000)
            let present = session.flatMap { session in
                session.tokens.flatMap { $0.remaining(at: now) > .zero ? session.accessToken : nil }
            }
            return [.refreshed(failure: error)]
                + refresh.waiters.map { waiter in
                    // A token that is still valid is good enough for callers who did not ask for a new one.
                    if !waiter.refreshing, let present { return .resume(waiter.id, .success(present)) }
                    return .resume(waiter.id, .failure(error))
                }
        }
    }

    private mutating func finish(refreshed session: AuthSession) -> [Action] {
        guard let refresh, let access = session.accessToken else { return [] }
        self.refresh = nil
        pauseUntil = nil
        return refresh.waiters.map { .resume($0.id, .success(access)) }
    }

    // MARK: The record

    private mutating func changed(_ change: SessionChange, _ result: SessionChangeResult) -> [Action] {
        switch result {
        case .kept(let record):
            let actions = adopt(record, because: refresh?.refusal)
            guard case .renew = change.kind, let session else { return actions }
            return actions + finish(refreshed: session)
        case .overtaken(let record):
            let actions = adopt(record)
            guard let refresh, let session, session.id == change.sessionID else { return actions }
            switch change.kind {
            // The stored tokens are newer than those the server returned for older ones.
            case .renew: return actions + finish(refreshed: session)
            // The refusal concerned tokens that have been replaced meanwhile: ask again with the new ones.
            case .expire: return actions + [.abandon(refresh.number), begin(session, for: refresh.waiters)]
            case .begin, .update, .signOut: return actions
            }
        }
    }

    /// - Parameter because: The error for callers waiting for a session that ends now.
    private mutating func adopt(_ record: SessionRecord, because reason: AuthError? = nil) -> [Action] {
        guard !isShutDown else { return [] }
        if let mine = session, let theirs = record.session, mine.id == theirs.id, mine.revision > theirs.revision {
            // These tokens are newer than those that the device could store, so they take precedence.
            return []
        }
        phase = .known(record)
        guard let refresh, record.session?.id != refresh.sessionID || record.session?.tokens == nil else { return [] }
        self.refresh = nil
        pauseUntil = nil
        let error = reason ?? (record.session?.id == refresh.sessionID ? .sessionOver : .sessionChanged)
        return [.abandon(refresh.number)] + refresh.waiters.map { .resume($0.id, .failure(error)) }
    }

    private mutating func shutDown() -> [Action] {
        guard !isShutDown else { return [] }
        isShutDown = true
        guard let refresh else { return [] }
        self.refresh = nil
        return [.abandon(refresh.number)] + refresh.waiters.map { .resume($0.id, .failure(.sessionShutDown)) }
    }
}

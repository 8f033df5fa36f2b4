import Switchyard
import SwitchyardBytes
import Synchronization

/// The one session of a client: read from its store at first use, replaced whole, and told to the streams in order.
final class MockSessionBox: Sendable {
    /// What calls are bound to: another sign-in makes another value.
    final class Session: Sendable {
        let refreshToken: String
        let userID: String
        /// Set while it is being signed out: what the server says about it meanwhile is no news.
        let isLeaving = Atomic(false)
        let flight = SingleFlight<AccessToken, AuthError>(cancellation: {
            AuthError(.cancelled, "The call was cancelled.")
        })

        init(refreshToken: String, userID: String) {
            self.refreshToken = refreshToken
            self.userID = userID
        }
    }

    private struct State {
        var session: Session?
        var access: AccessToken?
        var state = AuthState.unknown
        var isShutDown = false
        var listeners: [Int: SnapshotStream<AuthState, Never>.Continuation] = [:]
        var lastListener = 0
        var wipeRequests: [WipeRequest] = []
    }

    private let store: MockSessionStore
    private let box = Mutex(State())
    private let deliveries = DeliveryQueue()

    init(_ store: MockSessionStore) {
        self.store = store
        store.onLockChange { [weak self] in self?.lockChanged() }
    }

    var listenerCount: Int { box.withLock { $0.listeners.count } }
    var session: Session? { box.withLock { open(&$0).session } }
    var state: AuthState { box.withLock { open(&$0).state } }
    var wipeRequests: [WipeRequest] { box.withLock { $0.wipeRequests } }

    func checkOpen() throws(AuthError) {
        if box.withLock({ $0.isShutDown }) { throw AuthError(.shutDown, "The client was shut down.") }
    }

    /// The session to make a call with.
    func current() throws(AuthError) -> Session {
        try box.withLock { (box) throws(AuthError) in
            if box.isShutDown { throw AuthError(.shutDown, "The client was shut down.") }
            open(&box)
            switch box.state {
            case .locked:
                throw AuthError(.localStore, "The device keeps the session locked; try again once it is unlocked.")
            case .expired: throw AuthError(.sessionExpired, "The session has run out; sign in again.")
            case .unknown, .signedOut, .signedIn: break
            }
            guard let session = box.session else { throw AuthError(.notSignedIn, "Nobody is signed in.") }
            return session
        }
    }

    func access(of session: Session) -> AccessToken? { box.withLock { $0.session === session ? $0.access : nil } }

    func begin(_ signedIn: SignedIn) throws(AuthError) {
        try change { (box) throws(AuthError) in
            if box.isShutDown { throw AuthError(.shutDown, "The client was shut down.") }
            box.session = Session(refreshToken: signedIn.refreshToken, userID: signedIn.user.id)
            box.access = signedIn.access
            box.state = .signedIn(signedIn.user)
            keep(signedIn.user, signedIn.refreshToken)
        }
    }

    /// - Throws: `.sessionChanged` if another session took its place while the token was fetched.
    func keep(_ access: AccessToken, for session: Session) throws(AuthError) {
        try change { (box) throws(AuthError) in
            guard box.session === session else { throw .sessionChanged }
            box.access = access
        }
    }

    /// - Throws: `.sessionChanged` as above.
    func update(_ user: AuthUser, for session: Session) throws(AuthError) {
        try change { (box) throws(AuthError) in
            guard box.session === session else { throw .sessionChanged }
            box.state = .signedIn(user)
            keep(user, session.refreshToken)
        }
    }

    /// What a failure means for the session: only a clear word of the server ends it.
    ///
    /// - Returns: The failure as the caller should see it; one whose session has gone meanwhile learns just that.
    func end(_ session: Session, after error: AuthError) -> AuthError {
        let isPresent = box.withLock { $0.session === session } && !session.isLeaving.load(ordering: .acquiring)
        guard isPresent else { return error.code == .sessionExpired ? .sessionChanged : error }
        switch error.code {
        case .sessionExpired:
            change { box in
                guard box.session === session, case .signedIn(let user) = box.state else { return }
                box.access = nil
                box.state = .expired(user)
            }
        case .userDisabled: end(session, .signedOut(SignOut(.byServer)))
        default: break
        }
        return error
    }

    func end(_ session: Session, _ state: AuthState) {
        change { box in
            guard box.session === session else { return }
            clear(&box, state)
        }
    }

    /// Signs out where there may be nobody: a wish to wipe local data is told all the same.
    func signOut(wipesLocalData: Bool) {
        change { box in
            guard wipesLocalData || box.session != nil else { return }
            clear(&box, .signedOut(SignOut(.byUser, wipesLocalData: wipesLocalData)))
        }
    }

    func listen(_ continuation: SnapshotStream<AuthState, Never>.Continuation) -> @Sendable () -> Void {
        let id = box.withLock { box -> Int? in
            guard !box.isShutDown else { return nil }
            open(&box)
            box.lastListener += 1
            box.listeners[box.lastListener] = continuation
            let state = box.state
            deliveries.add([{ continuation.yield(state) }])
            return box.lastListener
        }
        deliveries.drain()
        guard let id else {
            continuation.finish()
            return {}
        }
        return { [weak self] in self?.box.withLock { _ = $0.listeners.removeValue(forKey: id) } }
    }

    func shutDown() {
        let listeners = box.withLock { box in
            box.isShutDown = true
            defer { box.listeners = [:] }
            return Array(box.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    // MARK: Inside

    private func clear(_ box: inout State, _ state: AuthState) {
        box.session = nil
        box.access = nil
        box.state = state
        store.write(nil)
    }

    private func keep(_ user: AuthUser, _ refreshToken: String) {
        store.write(
            MockSessionStore.Kept(
                refreshToken: refreshToken, userID: user.id, displayName: user.displayName, email: user.email,
                isAnonymous: user.isAnonymous))
    }

    /// Reads the kept session at first use, or as soon as the device is unlocked.
    @discardableResult
    private func open(_ box: inout State) -> State {
        guard box.state == .unknown || box.state == .locked else { return box }
        if store.isLocked {
            box.state = .locked
            return box
        }
        guard let kept = (try? store.read()) ?? nil else {
            box.state = .signedOut(SignOut(.never))
            return box
        }
        box.session = Session(refreshToken: kept.refreshToken, userID: kept.userID)
        box.state = .signedIn(
            AuthUser(
                id: kept.userID, email: kept.email, displayName: kept.displayName, isAnonymous: kept.isAnonymous))
        return box
    }

    /// A device that locks again keeps a session that is in use; one that unlocks reveals what it keeps.
    private func lockChanged() { change { box in if box.state == .locked { open(&box) } } }

    private func change<Failure: Error>(_ body: (inout State) throws(Failure) -> Void) throws(Failure) {
        try box.withLock { (box) throws(Failure) in
            let before = box.state
            open(&box)
            try body(&box)
            guard box.state != before else { return }
            let state = box.state
            before.noteWish(to: state, in: &box.wipeRequests)
            deliveries.add(box.listeners.values.map { listener in { listener.yield(state) } })
        }
        deliveries.drain()
    }
}

extension AuthError {
    static let sessionChanged = AuthError(.sessionChanged, "Another sign-in or sign-out overtook the call.")
}

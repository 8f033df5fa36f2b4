import Switchyard

/// Sets the owner of the engine's write queue as users sign in and out.
///
/// A call that is made after a sign-in has returned must already count as the new user's, so each call catches up first;
/// between calls a task follows the stream of states.
actor UserFollower {
    private let auth: any AuthClient
    private let engine: SyncEngine
    private let context: ModuleContext
    private var known: AuthState
    /// The current owner of the engine's queue.
    private var told: AuthUser.ID?
    private var wipeRequests: WipeRequestCursor
    /// Users whose data could not be deleted yet; `nil` means the last signed-in user.
    private var pendingWipes: [AuthUser.ID?] = []
    /// The change in progress; the next one waits for it.
    private var turn: Task<Void, Never>?
    private var following: Task<Void, Never>?

    /// - Parameter known: The state when the engine was made.
    init(_ auth: any AuthClient, _ engine: SyncEngine, _ context: ModuleContext, known: AuthState) {
        self.auth = auth
        self.engine = engine
        self.context = context
        self.known = known
        told = known.user?.id
        wipeRequests = WipeRequestCursor(auth, state: known)
    }

    deinit { following?.cancel() }

    func start() async {
        // A user may have signed out while there was no storage, or in a process that ended before its storage was told.
        if case .signedOut(let signOut) = known, signOut.wipesLocalData {
            pendingWipes = [nil]
            await wipe()
        }
        let states = auth.authStateStream()
        following = Task.detached { [weak self] in
            for await _ in states { await self?.catchUp() }
        }
    }

    func stop() { following?.cancel() }

    /// Like ``catchUp()``, but for writes: fails unless it is known who is signed in, or that nobody is.
    ///
    /// - Returns: The user, if any.
    @discardableResult
    func catchUpToWrite() async throws(StorageError) -> QueueOwner {
        let state = await catchUp()
        try state.checkOwnerIsKnown()
        return QueueOwner(state.user?.id)
    }

    @discardableResult
    func catchUp() async -> AuthState {
        let state = await auth.state
        if turn == nil, state == known, pendingWipes.isEmpty, wipeRequests.isUpToDate(state) { return state }
        let previous = turn
        // Shared by all callers, so it belongs to no request.
        let task = Task.detached { [auth] in
            await previous?.value
            await self.take(await auth.state)
        }
        turn = task
        await task.value
        if turn == task { turn = nil }
        return known == state ? state : await auth.state
    }

    private func take(_ state: AuthState) async {
        let news = wipeRequests.take(state)
        // Before any data that will be wiped becomes visible.
        if !news.isEmpty { await tell(nil) }
        pendingWipes += news
        await wipe(isNews: !news.isEmpty)
        switch state {
        // Nothing is known of the session, so nothing changes.
        case .unknown, .locked: return
        case .signedIn, .expired, .signedOut:
            known = state
            // Otherwise the screens of that user would go on as nobody's, and what is edited there as well.
            if state.isEndedByServer, told != nil { await engine.endStreams(because: .sessionEndedByServer) }
            await tell(state.user?.id)
        }
    }

    private func tell(_ userID: AuthUser.ID?) async {
        guard userID != told else { return }
        told = userID
        await engine.setUser(userID)
    }

    /// A failure is retried at the next catch-up; the observer is notified once.
    private func wipe(isNews: Bool = true) async {
        do throws(StorageError) {
            while let userID = pendingWipes.first {
                if let userID {
                    try await engine.wipe(of: QueueOwner(userID))
                } else {
                    try await engine.wipeLastUser()
                }
                pendingWipes.removeFirst()
            }
        } catch {
            guard isNews else { return }
            context.observer.observe(
                InfrastructureEvent(
                    service: .storage, provider: engine.driver.provider,
                    kind: .notice("The user's local documents could not be deleted: \(error.message)")))
        }
    }
}

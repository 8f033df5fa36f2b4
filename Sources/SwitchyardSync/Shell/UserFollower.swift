import Switchyard

/// Tells the storage whose queue of writes it is, as people sign in and out.
///
/// A call that is made after a sign-in has returned must already count as the new user's, so each call catches up first;
/// between calls a task follows the stream of states.
actor UserFollower {
    private let auth: any AuthClient
    private let storage: SyncedStorageClient
    private let context: ModuleContext
    private var known: AuthState
    /// The last change that is under way; the next one waits for it.
    private var turn: Task<Void, Never>?
    private var following: Task<Void, Never>?

    /// - Parameter known: The state with whose user the storage was made.
    init(_ auth: any AuthClient, _ storage: SyncedStorageClient, _ context: ModuleContext, known: AuthState) {
        self.auth = auth
        self.storage = storage
        self.context = context
        self.known = known
    }

    deinit { following?.cancel() }

    func start() async {
        // Somebody may have signed out while there was no storage, or in a process that ended before its storage knew.
        if case .signedOut(let signOut) = known, signOut.wipesLocalData {
            await wipe { storage throws(StorageError) in try await storage.wipeAfterSomebody() }
        }
        let states = auth.authStateStream()
        following = Task { [weak self] in
            for await _ in states { await self?.catchUp() }
        }
    }

    func stop() { following?.cancel() }

    func catchUp() async {
        if turn == nil, await auth.state == known { return }
        let previous = turn
        let task = Task {
            await previous?.value
            await take(await auth.state)
        }
        turn = task
        await task.value
        if turn == task { turn = nil }
    }

    private func take(_ state: AuthState) async {
        let isOther = state.user?.id != known.user?.id
        switch state {
        // Nothing is known of the session, so nothing changes.
        case .unknown, .locked: return
        case .signedIn, .expired: known = state
        case .signedOut(let signOut):
            let isNews = state != known
            known = state
            guard isNews, signOut.wipesLocalData else { break }
            if isOther { await storage.setUser(nil) }
            await wipe { storage throws(StorageError) in try await storage.wipe() }
            return
        }
        if isOther { await storage.setUser(state.user?.id) }
    }

    private func wipe(_ body: (SyncedStorageClient) async throws(StorageError) -> Void) async {
        do throws(StorageError) {
            try await body(storage)
        } catch {
            context.observer.observe(
                InfrastructureEvent(
                    service: .storage, provider: storage.provider,
                    kind: .notice("What is kept of the user's documents could not be deleted: \(error.message)")))
        }
    }
}

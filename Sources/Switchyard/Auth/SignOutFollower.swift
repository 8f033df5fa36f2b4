import Switchyard
import SwitchyardBytes

/// Lets a device forget what it keeps of somebody's documents, once they sign out with that wish.
///
/// A call that is made after the sign-out has returned must find nothing any more, so each call catches up first; between
/// calls a task follows the stream of states.
actor SignOutFollower {
    private let auth: any AuthClient
    private let wipe: @Sendable () -> Void
    private var wishes: WipeWishes
    /// The last look that is under way; the next one waits for it, so that none acts on an older state after a newer one.
    private var turn: Task<Void, Never>?
    private let following = TaskBox()

    init(_ auth: any AuthClient, wipe: @escaping @Sendable () -> Void) async {
        self.auth = auth
        self.wipe = wipe
        wishes = WipeWishes(auth, state: await auth.state)
        let states = auth.authStateStream()
        following.replace(
            with: Task { [weak self] in
                for await _ in states { await self?.catchUp() }
            })
    }

    deinit { following.cancel() }

    nonisolated func stop() { following.cancel() }

    /// As ``catchUp()``, for what is going to be written: as everywhere, it must be clear whose it is.
    func catchUpToWrite() async throws(StorageError) {
        await catchUp()
        try await auth.state.checkOwnerIsKnown()
    }

    func catchUp() async {
        if turn == nil, wishes.isUpToDate(await auth.state) { return }
        let previous = turn
        let task = Task {
            await previous?.value
            take(await auth.state)
        }
        turn = task
        await task.value
        if turn == task { turn = nil }
    }

    private func take(_ state: AuthState) { if !wishes.take(state).isEmpty { wipe() } }
}

extension MockStorageClient: SignInFollowing {
    package func catchUp() async { await follower?.catchUp() }
}

package import Switchyard
import SwitchyardBytes

/// Lets somebody forget what they keep of people, once these sign out with that wish.
///
/// A call that is made after the sign-out has returned must find nothing any more, so each call catches up first; between
/// calls a task follows the stream of states.
package actor SignOutFollower {
    private let auth: any AuthClient
    private let wipe: @Sendable ([AuthUser.ID?]) -> Void
    private var wishes: WipeWishes
    /// The last look that is under way; the next one waits for it, so that none acts on an older state after a newer one.
    private var turn: Task<Void, Never>?
    private let following = TaskBox()

    /// - Parameters:
    ///   - known: The present state, or `.unknown` to do without who was there before.
    ///   - wipe: Told who has left; `nil` for whoever was there last.
    package init(_ auth: any AuthClient, known: AuthState, wipe: @escaping @Sendable ([AuthUser.ID?]) -> Void) {
        self.auth = auth
        self.wipe = wipe
        wishes = WipeWishes(auth, state: known)
        let states = auth.authStateStream()
        following.replace(
            with: Task { [weak self] in
                for await _ in states { await self?.catchUp() }
            })
    }

    deinit { following.cancel() }

    package nonisolated func stop() { following.cancel() }

    /// As ``catchUp()``, for what is going to be written: as everywhere, it must be clear whose it is.
    package func catchUpToWrite() async throws(StorageError) {
        await catchUp()
        try await auth.state.checkOwnerIsKnown()
    }

    package func catchUp() async {
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

    private func take(_ state: AuthState) {
        let leavers = wishes.take(state)
        if !leavers.isEmpty { wipe(leavers) }
    }
}

package import Switchyard
import SwitchyardBytes

/// Tells somebody who keeps things of people who is there now, and who signed out with the wish to be forgotten.
///
/// A call that is made after the sign-out has returned must find nothing any more, so each call catches up first; between
/// calls a task follows the stream of states.
package actor SignOutFollower {
    private let auth: any AuthClient
    private let changed: @Sendable ([AuthUser.ID?], AuthState) -> Void
    private var wishes: WipeWishes
    /// The last look that is under way; the next one waits for it, so that none acts on an older state after a newer one.
    private var turn: Task<Void, Never>?
    private let following = TaskBox()

    /// - Parameters:
    ///   - known: The present state, or `.unknown` to do without who was there before.
    ///   - changed: Told who wants to be forgotten, `nil` for whoever was there last, and the state from now on.
    package init(
        _ auth: any AuthClient, known: AuthState, changed: @escaping @Sendable ([AuthUser.ID?], AuthState) -> Void
    ) {
        self.auth = auth
        self.changed = changed
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

    private func take(_ state: AuthState) { changed(wishes.take(state), state) }
}

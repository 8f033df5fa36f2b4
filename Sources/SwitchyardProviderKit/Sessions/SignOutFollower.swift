package import Switchyard
import SwitchyardBytes

/// Tells a client that keeps user data who is signed in, and who requested a wipe when signing out.
///
/// A call made after the sign-out has returned must find no data, so each call catches up first; between calls a task follows
/// the stream of states.
package actor SignOutFollower {
    private let auth: any AuthClient
    private let changed: @Sendable ([AuthUser.ID?], AuthState) -> Void
    private var wipeRequests: WipeRequestCursor
    /// The catch-up in progress; the next one waits for it, so that none acts on an older state after a newer one.
    private var turn: Task<Void, Never>?
    private let following = TaskBox()

    /// - Parameters:
    ///   - known: The current state, or `.unknown` to ignore earlier users.
    ///   - changed: Called with the users to wipe (`nil` for the last one) and the new state.
    package init(
        _ auth: any AuthClient, known: AuthState, changed: @escaping @Sendable ([AuthUser.ID?], AuthState) -> Void
    ) {
        self.auth = auth
        self.changed = changed
        wipeRequests = WipeRequestCursor(auth, state: known)
        let states = auth.authStateStream()
        following.replace(
            with: Task { [weak self] in
                for await _ in states { await self?.catchUp() }
            })
    }

    deinit { following.cancel() }

    package nonisolated func stop() { following.cancel() }

    /// Like ``catchUp()``, before a write, whose owner must be known.
    package func catchUpToWrite() async throws(StorageError) {
        await catchUp()
        try await auth.state.checkOwnerIsKnown()
    }

    package func catchUp() async {
        if turn == nil, wipeRequests.isUpToDate(await auth.state) { return }
        let previous = turn
        let task = Task {
            await previous?.value
            take(await auth.state)
        }
        turn = task
        await task.value
        if turn == task { turn = nil }
    }

    private func take(_ state: AuthState) { changed(wipeRequests.take(state), state) }
}

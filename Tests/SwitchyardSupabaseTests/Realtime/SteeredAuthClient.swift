import Switchyard
import SwitchyardBytes
import Synchronization

/// An auth client whose session a test sets.
final class SteeredAuthClient: ReadOnlyAuthClient {
    private struct State {
        var userID: String?
        var number = 0
        var watchers: [Int: SnapshotStream<AuthState, Never>.Continuation] = [:]
        var failure: AuthError?
        var hold: (asked: Promise<Void>, gate: Promise<Void>)?
    }

    private let box: Mutex<State>

    init(_ userID: String?) { box = Mutex(State(userID: userID)) }

    var provider: InfrastructureProvider { "supabase" }
    var capabilities: AuthCapabilities { AuthCapabilities() }
    var state: AuthState { get async { box.withLock { Self.state($0.userID) } } }

    private static func state(_ userID: String?) -> AuthState {
        userID.map { .signedIn(AuthUser(id: AuthUser.ID($0))) } ?? .signedOut(SignOut(.byUser))
    }

    /// How many follow who is signed in.
    var watcherCount: Int { box.withLock(\.watchers.count) }

    /// Another user, or no one; all listeners are notified.
    func become(_ userID: String?) {
        let watchers = box.withLock { state in
            state.userID = userID
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield(Self.state(userID)) }
    }

    func fail(with error: AuthError?) { box.withLock { $0.failure = error } }

    /// Has whoever asks next for a token wait for `gate`, and then get the token of whoever was signed in when they asked.
    ///
    /// - Returns: `asked`, which is resolved when somebody waits.
    func holdNextToken() -> (asked: Promise<Void>, gate: Promise<Void>) {
        let hold = (asked: Promise<Void>(), gate: Promise<Void>())
        box.withLock { $0.hold = hold }
        return hold
    }

    func authStateStream() -> SnapshotStream<AuthState, Never> {
        SnapshotStream { continuation in
            let (id, now) = self.box.withLock { state in
                state.number += 1
                state.watchers[state.number] = continuation
                return (state.number, Self.state(state.userID))
            }
            continuation.yield(now)
            return { self.box.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        }
    }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        let (userID, failure, hold) = box.withLock { state in
            defer { state.hold = nil }
            return (state.userID, state.failure, state.hold)
        }
        if let hold {
            hold.asked.resolve(())
            _ = await hold.gate.value
        }
        if let failure { throw failure }
        guard let userID else { throw AuthError(.notSignedIn, "No user is signed in.") }
        return AccessToken(
            value: Secret(refreshing ? "new-\(userID)" : userID), expiresAt: .distantFuture, userID: AuthUser.ID(userID)
        )
    }
}

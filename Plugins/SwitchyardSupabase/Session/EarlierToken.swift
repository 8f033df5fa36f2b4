import Switchyard
import Synchronization

/// A user's previous token, for as long as the database considers the new one to be from the future.
///
/// A session is renewed well before its token expires, so the previous one usually bridges the difference between two clocks.
final class EarlierToken: Sendable {
    private struct State {
        var current: AccessToken?
        var previous: AccessToken?
        /// Until when the previous token is used instead.
        var end: ContinuousClock.Instant?
    }

    /// How long to wait before the new token is tried again.
    private static let pause = Duration.seconds(30)
    /// The previous token is not used in its last seconds, which another clock may already count as over.
    private static let margin: Int64 = 10

    private let state = Mutex(State())

    /// Notes the current token.
    ///
    /// - Returns: The token to send.
    func token(for current: AccessToken) -> AccessToken {
        state.withLock { state in
            if state.current?.value != current.value {
                // A token of another user is never stored.
                state.previous = state.current?.userID == current.userID ? state.current : nil
                (state.current, state.end) = (current, nil)
            }
            guard let end = state.end, .now < end, let previous = state.previous else { return current }
            return previous
        }
    }

    /// - Parameter token: The token that was refused, the current one or the previous one itself.
    /// - Returns: `false` if the previous token does not help either.
    func stands(in token: AccessToken, at now: Timestamp) -> Bool {
        state.withLock { state in
            guard token.value == state.current?.value, let previous = state.previous,
                previous.expiresAt.seconds - now.seconds > Self.margin
            else {
                state.end = nil
                return false
            }
            state.end = .now + Self.pause
            return true
        }
    }
}

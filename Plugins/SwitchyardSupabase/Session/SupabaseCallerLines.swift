import Switchyard
import SwitchyardWire
import Synchronization

/// Realtime for the streams of a server's callers: a socket for each token, while streams are open with it.
///
/// Each channel is joined with a token of its own, so one socket could carry several people. But it joins a topic only once, and
/// two people who watch one collection need the same topic, each with their own rights. With sockets of their own they cannot
/// get in each other's way, and what a token has opened closes with it.
final class SupabaseCallerLines: Sendable {
    private let surroundings: SupabaseSurroundings
    private let noticed = Mutex<Set<String>>([])
    /// For drivers that no stream stands on: one for all, since each caller's memory counts.
    let silence = ChangeHints()

    /// How many different notices are given.
    private static let noticeLimit = 20

    /// - Parameter surroundings: Of nobody; its transport is for all.
    /// - Returns: `nil` where callers go without. By long polling each of them would always have a call under way, and callers
    ///   share limits of those.
    init?(_ surroundings: SupabaseSurroundings) {
        guard surroundings.configuration.realtime.mode == .automatic else { return nil }
        self.surroundings = surroundings
    }

    /// A socket that nobody else has. It connects when it is used, and has to be closed.
    func open(_ tokens: SupabaseTokens) -> RealtimeSocket {
        let (configuration, context) = (surroundings.configuration, surroundings.context)
        return RealtimeSocket(
            surroundings.project.realtime, tokens: tokens, transport: surroundings.transport, clock: context.clock,
            now: context.now, configuration.realtime, mayPoll: false)
    }

    /// Tells the observer, once for all callers, of what may concern every one of them.
    func notice(_ text: String) {
        let isNew = noticed.withLock { noticed in
            guard noticed.count < Self.noticeLimit else { return false }
            return noticed.insert(text).inserted
        }
        guard isNew else { return }
        surroundings.context.observer.observe(
            InfrastructureEvent(service: .storage, provider: .supabase, kind: .notice(text)))
    }
}

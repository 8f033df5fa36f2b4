import Switchyard
import SwitchyardWire
import Synchronization

/// Realtime for the streams of a server's callers: one socket per token, while streams are open with it.
///
/// Each channel is joined with a separate token, so one socket could serve several users. But a socket joins each topic only
/// once, and two users who watch one collection need the same topic, each with their own rights. Separate sockets avoid this
/// conflict, and close with the streams of their token.
final class SupabaseCallerSockets: Sendable {
    private let context: SupabaseContext
    private let noticed = Mutex<Set<String>>([])
    /// For drivers without streams: one for all, to save memory per caller.
    let silence = ChangeHints()

    /// The maximum number of different notices.
    private static let noticeLimit = 20

    /// - Parameter context: A context without a user. All callers share its transport.
    /// - Returns: `nil` if callers do without realtime. With long polling, each caller would always have a call under way, and
    ///   these count towards a shared limit.
    init?(_ context: SupabaseContext) {
        guard context.configuration.realtime.mode == .automatic else { return nil }
        self.context = context
    }

    /// Creates a separate socket. It connects on demand and must be closed.
    func open(_ tokens: SupabaseTokens) -> RealtimeSocket {
        RealtimeSocket(
            context.project.realtime, tokens: tokens, transport: context.transport, clock: context.module.clock,
            now: context.module.now, context.configuration.realtime, mayPoll: false)
    }

    /// Notifies the observer, once for all callers, of a problem that may concern all of them.
    func notice(_ text: String) {
        let isNew = noticed.withLock { noticed in
            guard noticed.count < Self.noticeLimit else { return false }
            return noticed.insert(text).inserted
        }
        guard isNew else { return }
        context.module.observer.observe(
            InfrastructureEvent(service: .storage, provider: .supabase, kind: .notice(text)))
    }
}

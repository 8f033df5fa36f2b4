import SwitchyardBytes
import Synchronization

/// The one place that follows the session of an auth client, and delivers its changes, in order, to everyone who keeps something
/// for a user on the device: storages, files and messages.
///
/// Between calls it follows the auth client's stream. Before each call a subscriber catches up, so that a call made after a
/// sign-in or sign-out has returned belongs to the new state.
///
/// A provider's client subscribes when it is made, with the feed of its ``ModuleContext``:
/// ```swift
/// subscription = context.session?.subscribe { [store] change in
///     switch change {
///     case .wipe(let userID): try await store.deleteEverything(of: userID)
///     case .state(let state): await store.use(state.user?.id)
///     }
/// }
/// ```
public final class SessionFeed: Sendable {
    public enum Change: Sendable, Equatable {
        /// Delete what is kept for this user; `nil` stands for the last user of the device.
        case wipe(AuthUser.ID?)
        /// From now on the session is in this state: signed in, expired or signed out.
        case state(AuthState)
    }

    /// Carries out a change. Do local work only, and do not call ``SessionSubscription/catchUp()``: sign-outs and other calls wait
    /// for it.
    public typealias Handler = @Sendable (Change) async throws -> Void

    fileprivate struct Member {
        weak var subscription: SessionSubscription?
        /// What it has to carry out before the next change: the state when it subscribed.
        var beginning: [Change] = []
        /// The number of its next change; `nil` if no one had read the session when it subscribed. Then it begins with the
        /// first state that is read.
        var next: Int?
    }

    private struct Log {
        /// `nil` until someone has read the session.
        var last: SessionSnapshot?
        /// The last known user, also while the state is unknown or locked.
        var user: AuthUser.ID?
        var seen: Set<WipeRequest.ID> = []
        /// The changes that some member has not taken yet, and the number of the first one.
        var changes: [Change] = []
        var first = 0
        var members: [Int: Member] = [:]
        var lastID = 0
        /// The last states that were noted, and that the stream has not reported yet. It may pass over some.
        var unreported: [AuthState] = []
        /// Follows the auth client's stream while there are members.
        var following: Task<Void, Never>?
        var end: Int { first + changes.count }

        func isKnown(_ now: SessionSnapshot) -> Bool {
            guard let last else { return false }
            return now.issuer == last.issuer && now.state == last.state
                && now.wipeRequests?.last?.id == last.wipeRequests?.last?.id
        }

        mutating func take(_ now: SessionSnapshot) {
            let before = last
            last = now
            let end = end
            if before?.issuer != now.issuer {
                // Earlier requests concerned users of the earlier provider, or a time before this feed.
                seen = Set((now.wipeRequests ?? []).map(\.id))
            } else if let requests = now.wipeRequests {
                for request in requests where seen.insert(request.id).inserted {
                    changes.append(.wipe(request.userID ?? user))
                }
            } else if now.state != before?.state, now.state.wipesLocalData {
                changes.append(.wipe(user))
            }
            guard now.state.isKnown else { return }
            user = now.state.user?.id
            if before?.state != now.state || before?.issuer != now.issuer || self.end > end {
                changes.append(.state(now.state))
                unreported = unreported.suffix(15) + [now.state]
            }
        }

        /// The stream has reported `state`.
        ///
        /// - Returns: Whether it was noted before.
        mutating func takeReport(of state: AuthState) -> Bool {
            guard let index = unreported.firstIndex(of: state) else { return false }
            unreported.removeFirst(index + 1)
            return true
        }

        /// The changes for a member that has had none.
        var beginning: [Change] {
            guard let state = last?.state, state.isKnown else { return [] }
            // The user may have signed out while there was no client, or in a process that ended before its client knew.
            return (state.wipesLocalData ? [.wipe(nil)] : []) + [.state(state)]
        }

        mutating func trim() {
            for (id, member) in members where member.subscription == nil { members[id] = nil }
            let needed = members.values.compactMap(\.next).min() ?? end
            changes.removeFirst(min(changes.count, max(0, needed - first)))
            first = max(first, needed)
        }
    }

    /// The auth client whose session this is.
    public let auth: any AuthClient
    private let log = Mutex(Log())
    private let turns = AsyncSerialQueue()

    public init(_ auth: any AuthClient) { self.auth = auth }

    deinit { log.withLock { $0.following }?.cancel() }

    /// The session now. Never waits for the network.
    public var session: SessionSnapshot { get async { await auth.session } }

    /// A token for a request: the one at hand, or a new one.
    ///
    /// - Throws: `.notSignedIn`, or what ``AuthClient/accessToken(refreshing:)`` throws.
    public func token(refreshing: Bool = false) async throws(AuthError) -> AccessToken {
        try await auth.usableToken(refreshing: refreshing)
    }

    /// Delivers the current state, and from then on every change, in order and one at a time.
    ///
    /// - Parameters:
    ///   - handle: Carries out a change. A wipe that throws is tried again with each catch-up until it succeeds.
    ///   - failed: Called once for each wipe that throws.
    /// - Returns: Keep it for as long as changes are wanted.
    public func subscribe(
        _ handle: @escaping Handler, failed: @escaping @Sendable (any Error) -> Void = { _ in }
    ) -> SessionSubscription {
        log.withLock { log in
            log.lastID += 1
            let subscription = SessionSubscription(self, log.lastID, handle, failed)
            // What happens between now and its first delivery concerns it already.
            log.members[log.lastID] = Member(
                subscription: subscription, beginning: log.beginning, next: log.last == nil ? nil : log.end)
            if log.following == nil { log.following = follow() }
            return subscription
        }
    }

    private func follow() -> Task<Void, Never> {
        Task.detached { [weak self, auth] in
            var isFirst = true
            for await state in auth.authStateStream() {
                await self?.settle(after: state, isChange: !isFirst)
                isFirst = false
            }
        }
    }

    fileprivate func unsubscribe(_ id: Int) {
        let following = log.withLock { log -> Task<Void, Never>? in
            log.members[id] = nil
            log.trim()
            guard log.members.isEmpty else { return nil }
            defer { log.following = nil }
            return log.following
        }
        following?.cancel()
    }

    /// Returns when every subscriber has carried out what has happened so far.
    public func settle() async {
        await read()
        await deliver()
    }

    /// - Parameters:
    ///   - state: What the stream has reported.
    ///   - isChange: Whether it reported it as a change. If the state is the current one, and was not noted since the report
    ///     before, someone has signed out and in again in between, which ends what the server keeps for a session.
    private func settle(after state: AuthState, isChange: Bool) async {
        await read()
        log.withLock { log in
            if !log.takeReport(of: state), isChange, state == log.last?.state, state.isKnown {
                log.changes.append(.state(state))
            }
        }
        await deliver()
    }

    private func deliver() async {
        let members = log.withLock { $0.members.values.compactMap(\.subscription) }
        for member in members { await member.deliver() }
    }

    /// Reads the session and notes what is new. One at a time, so that none notes an older state after a newer one.
    fileprivate func read() async {
        await turns.runDetached { [self] in
            let now = await auth.session
            log.withLock { log in if log.isKnown(now) { log.last = now } else { log.take(now) } }
        }
    }

    fileprivate var last: SessionSnapshot? { log.withLock { $0.last } }

    /// - Returns: The session, if the member has nothing to do.
    fileprivate func unchangedSession(_ id: Int) async -> SessionSnapshot? {
        let now = await auth.session
        return log.withLock { log in
            guard log.isKnown(now), let member = log.members[id], member.next == log.end, member.beginning.isEmpty
            else { return nil }
            log.last = now
            return now
        }
    }

    /// - Returns: `nil` if there are none.
    fileprivate func nextChanges(_ id: Int) -> [Change]? {
        log.withLock { log in
            guard let member = log.members[id] else { return nil }
            let end = log.end
            log.members[id] = Member(subscription: member.subscription, next: end)
            let changes = member.next.map { member.beginning + log.changes[($0 - log.first)...] } ?? log.beginning
            log.trim()
            return changes.isEmpty ? nil : changes
        }
    }
}

/// One client's part in a ``SessionFeed``. It ends when it is released.
public final class SessionSubscription: Sendable {
    private struct State {
        /// Wipes that have not succeeded yet.
        var unfinished: [SessionFeed.Change] = []
        var deliveries = 0
    }

    private let feed: SessionFeed
    private let id: Int
    private let handle: SessionFeed.Handler
    private let failed: @Sendable (any Error) -> Void
    private let state = Mutex(State())
    private let turns = AsyncSerialQueue()

    init(
        _ feed: SessionFeed, _ id: Int, _ handle: @escaping SessionFeed.Handler,
        _ failed: @escaping @Sendable (any Error) -> Void
    ) {
        self.feed = feed
        self.id = id
        self.handle = handle
        self.failed = failed
    }

    deinit { feed.unsubscribe(id) }

    /// Ends it before it is released.
    public func stop() { feed.unsubscribe(id) }

    /// Call this before each operation: everything that has happened to the session is carried out when it returns.
    ///
    /// - Returns: The session that the operation belongs to.
    @discardableResult
    public func catchUp() async -> SessionSnapshot {
        // In this order: a change that was taken, but is still being carried out, counts as a delivery.
        if let session = await feed.unchangedSession(id), isIdle { return session }
        await feed.read()
        await deliver()
        if let last = feed.last { return last }
        return await feed.session
    }

    /// Like ``catchUp()``, before a write.
    ///
    /// - Returns: The owner of the write; `nil` if no one is signed in.
    /// - Throws: `.unauthenticated` (retryable) while the owner is unknown.
    @discardableResult
    public func catchUpToWrite() async throws(StorageError) -> AuthUser.ID? { try await catchUp().owner() }

    private var isIdle: Bool { state.withLock { $0.unfinished.isEmpty && $0.deliveries == 0 } }

    fileprivate func deliver() async {
        await turns.runDetached { [self] in
            state.withLock { $0.deliveries += 1 }
            // What could not be deleted must still be deleted; it stays in the list until then, so that calls keep trying.
            for change in state.withLock({ $0.unfinished }) { await attempt(change, isFirst: false) }
            while let changes = feed.nextChanges(id) {
                for change in changes { await attempt(change, isFirst: true) }
            }
            state.withLock { $0.deliveries -= 1 }
        }
    }

    private func attempt(_ change: SessionFeed.Change, isFirst: Bool) async {
        do {
            try await handle(change)
            guard !isFirst else { return }
            state.withLock { state in
                if let index = state.unfinished.firstIndex(of: change) { state.unfinished.remove(at: index) }
            }
        } catch {
            // Of states only the newest counts, so one that could not be carried out is not tried again.
            guard isFirst, case .wipe = change else { return }
            state.withLock { $0.unfinished.append(change) }
            failed(error)
        }
    }
}

import SwitchyardBytes
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import Switchyard

/// An auth client whose session is set by hand.
private final class HandmadeAuth: ReadOnlyAuthClient {
    private struct State {
        var provider: InfrastructureProvider = "first"
        var state = AuthState.unknown
        var token: AccessToken?
        /// `nil` for a client that records none.
        var requests: [WipeRequest]? = []
        var tokenCalls = 0
        var streams = 0
    }

    let capabilities = AuthCapabilities()
    private let box: Mutex<State>
    private let states = Broadcast<SnapshotStream<AuthState, Never>.Continuation>()

    init(_ state: AuthState = .unknown, recordsRequests: Bool = true) {
        box = Mutex(State(state: state, requests: recordsRequests ? [] : nil))
    }

    var provider: InfrastructureProvider { box.withLock { $0.provider } }
    var state: AuthState { get async { box.withLock { $0.state } } }
    var wipeRequests: [WipeRequest]? { box.withLock { $0.requests } }
    var session: SessionSnapshot {
        get async {
            box.withLock {
                SessionSnapshot(issuer: $0.provider, state: $0.state, token: $0.token, wipeRequests: $0.requests)
            }
        }
    }
    var tokenCalls: Int { box.withLock { $0.tokenCalls } }
    var streams: Int { states.count }

    func authStateStream() -> SnapshotStream<AuthState, Never> {
        SnapshotStream { [self] continuation in
            defer { states.deliver() }
            return box.withLock { box in
                states.add(continuation) { [state = box.state] in $0.yield(state) }
            }
        }
    }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        box.withLock { box in
            box.tokenCalls += 1
            return AccessToken(
                value: Secret("asked \(box.tokenCalls)"), expiresAt: Timestamp(clampingSeconds: 0, nanoseconds: 0),
                userID: box.state.user?.id ?? "")
        }
    }

    /// - Parameter silently: Whether streams stay as they are, so that only the next call sees it.
    func become(
        _ state: AuthState, wiping leaver: AuthUser.ID? = nil, token: AccessToken? = nil,
        provider: InfrastructureProvider? = nil, silently: Bool = false
    ) {
        box.withLock { box in
            if let leaver { box.requests?.append(WipeRequest(id: RandomID.make(), userID: leaver)) }
            box.state = state
            box.token = token
            if let provider { box.provider = provider }
            if !silently { states.queue { $0.yield(state) } }
        }
        states.deliver()
    }

    static func user(_ id: String) -> AuthState { .signedIn(AuthUser(id: id, isAnonymous: false)) }
    static let left = AuthState.signedOut(SignOut(.byUser, wipesLocalData: true))
}

/// What a subscriber was asked to do, in order.
private final class Notes: Sendable {
    private let list = Mutex<[SessionFeed.Change]>([])
    var all: [SessionFeed.Change] { list.withLock { $0 } }
    var texts: [String] {
        all.map { change in
            switch change {
            case .wipe(let userID): "wipe \(userID ?? "the last")"
            case .state(let state): state.user.map(\.id) ?? "out"
            }
        }
    }
    func add(_ change: SessionFeed.Change) { list.withLock { $0.append(change) } }
}

@Suite(.timeLimit(.minutes(1))) struct SessionFeedTests {
    private struct Failed: Error {}

    @Test func `A subscriber gets the state of its beginning, and then each change once`() async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let feed = SessionFeed(auth)
        let notes = Notes()
        let subscription = feed.subscribe { notes.add($0) }
        await subscription.catchUp()
        for _ in 1...3 { await subscription.catchUp() }
        #expect(notes.texts == ["alice"])
        auth.become(.signedOut(SignOut(.byUser)), silently: true)
        #expect(await subscription.catchUp().state.user == nil)
        auth.become(HandmadeAuth.user("bob"), silently: true)
        #expect(await subscription.catchUp().state.user?.id == "bob")
        #expect(notes.texts == ["alice", "out", "bob"])
    }

    @Test func `Between calls it follows the stream`() async throws {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let notes = Notes()
        let subscription = SessionFeed(auth).subscribe { notes.add($0) }
        try await eventually("the stream is followed") { notes.texts == ["alice"] }
        auth.become(HandmadeAuth.user("bob"))
        try await eventually("the change has come") { notes.texts == ["alice", "bob"] }
        withExtendedLifetime(subscription) {}
    }

    @Test(arguments: 1...20)
    func `A wipe comes before the next user, whichever reads first`(_ round: Int) async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let feed = SessionFeed(auth)
        let notes = (0..<4).map { _ in Notes() }
        let subscriptions = notes.map { notes in feed.subscribe { notes.add($0) } }
        for subscription in subscriptions { await subscription.catchUp() }
        auth.become(HandmadeAuth.user("bob"), wiping: "alice", silently: round.isMultiple(of: 2))
        await withTaskGroup(of: Void.self) { group in
            for subscription in subscriptions { group.addTask { await subscription.catchUp() } }
            group.addTask { await feed.settle() }
        }
        for notes in notes { #expect(notes.texts == ["alice", "wipe alice", "bob"]) }
    }

    /// Reports the states that the test sends, whatever the session is, and counts how often that is read.
    private final class LateReports: AuthClientWrapper {
        let base: any AuthClient
        let reads = Atomic(0)
        private let reports: AsyncStream<AuthState>

        init(_ base: any AuthClient, _ reports: AsyncStream<AuthState>) {
            self.base = base
            self.reports = reports
        }

        var session: SessionSnapshot {
            get async {
                reads.add(1, ordering: .relaxed)
                return await base.session
            }
        }
        func authStateStream() -> SnapshotStream<AuthState, Never> {
            SnapshotStream { [reports] continuation in
                let task = Task { for await report in reports { continuation.yield(report) } }
                return { task.cancel() }
            }
        }
    }

    @Test func `A report that comes after the next user was read names no one twice`() async throws {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let (reports, report) = AsyncStream<AuthState>.makeStream()
        let notes = Notes()
        let late = LateReports(auth, reports)
        let subscription = SessionFeed(late).subscribe { notes.add($0) }
        await subscription.catchUp()
        auth.become(HandmadeAuth.user("bob"), silently: true)
        await subscription.catchUp()
        for user in ["alice", "bob"] {
            let before = late.reads.load(ordering: .relaxed)
            report.yield(HandmadeAuth.user(user))
            try await eventually("the report is taken") { late.reads.load(ordering: .relaxed) > before }
        }
        auth.become(.signedOut(SignOut(.byUser)), silently: true)
        report.yield(.signedOut(SignOut(.byUser)))
        try await eventually("the last report has come") { notes.texts.last == "out" }
        #expect(notes.texts == ["alice", "bob", "out"])
        withExtendedLifetime(subscription) {}
    }

    @Test func `Who signs out and in again before anyone reads is named again`() async throws {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let notes = Notes()
        let subscription = SessionFeed(auth).subscribe { notes.add($0) }
        try await eventually("the stream is followed") { notes.texts == ["alice"] && auth.streams == 1 }
        auth.become(HandmadeAuth.user("alice"))
        try await eventually("the new session has come") { notes.texts == ["alice", "alice"] }
        await subscription.catchUp()
        #expect(notes.texts == ["alice", "alice"])
    }

    @Test func `Who signs in again after a wipe is named again`() async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let notes = Notes()
        let subscription = SessionFeed(auth).subscribe { notes.add($0) }
        await subscription.catchUp()
        auth.become(HandmadeAuth.user("alice"), wiping: "alice", silently: true)
        await subscription.catchUp()
        #expect(notes.texts == ["alice", "wipe alice", "alice"])
    }

    @Test func `A wipe that fails is tried with every call until it succeeds, and reported once`() async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let notes = Notes()
        let failures = Atomic(0)
        let isBroken = Mutex(true)
        let subscription = SessionFeed(auth).subscribe { change in
            notes.add(change)
            if case .wipe = change, isBroken.withLock({ $0 }) { throw Failed() }
        } failed: { _ in
            failures.add(1, ordering: .relaxed)
        }
        await subscription.catchUp()
        auth.become(HandmadeAuth.user("bob"), wiping: "alice", silently: true)
        for _ in 1...3 { await subscription.catchUp() }
        // The feed may have read as well.
        #expect(Array(notes.texts.prefix(5)) == ["alice", "wipe alice", "bob", "wipe alice", "wipe alice"])
        #expect(notes.texts.dropFirst(5).allSatisfy { $0 == "wipe alice" })
        #expect(failures.load(ordering: .relaxed) == 1)
        isBroken.withLock { $0 = false }
        await subscription.catchUp()
        let done = notes.texts
        for _ in 1...3 { await subscription.catchUp() }
        #expect(notes.texts == done)
    }

    @Test(arguments: [AuthState.locked, .unknown])
    func `What is not known changes nothing, and a write is refused for now`(_ state: AuthState) async throws {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let notes = Notes()
        let subscription = SessionFeed(auth).subscribe { notes.add($0) }
        await subscription.catchUp()
        auth.become(state, silently: true)
        let error = await #expect(throws: StorageError.self) { try await subscription.catchUpToWrite() }
        #expect(error?.code == .unauthenticated && error?.isRetryable == true)
        #expect(notes.texts == ["alice"])
        auth.become(HandmadeAuth.user("alice"), silently: true)
        #expect(try await subscription.catchUpToWrite() == "alice")
    }

    @Test func `After an exchange of the auth client its earlier requests are not carried out`() async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let notes = Notes()
        let subscription = SessionFeed(auth).subscribe { notes.add($0) }
        await subscription.catchUp()
        auth.become(HandmadeAuth.user("carol"), wiping: "someone of theirs", provider: "second", silently: true)
        await subscription.catchUp()
        auth.become(HandmadeAuth.user("dave"), wiping: "carol", silently: true)
        await subscription.catchUp()
        #expect(notes.texts == ["alice", "carol", "wipe carol", "dave"])
    }

    @Test func `A client that begins after a sign-out with a wipe deletes what the last user left`() async {
        let notes = Notes()
        let subscription = SessionFeed(HandmadeAuth(HandmadeAuth.left)).subscribe { notes.add($0) }
        await subscription.catchUp()
        #expect(notes.texts == ["wipe the last", "out"])
    }

    @Test func `A wipe between the subscription and its first read is carried out`() async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let feed = SessionFeed(auth)
        let first = feed.subscribe { _ in }
        await first.catchUp()
        let notes = Notes()
        let second = feed.subscribe { notes.add($0) }
        auth.become(HandmadeAuth.user("bob"), wiping: "alice", silently: true)
        await first.catchUp()
        await second.catchUp()
        #expect(notes.texts == ["alice", "wipe alice", "bob"])
    }

    @Test func `An auth client that records no requests shows them by its state`() async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"), recordsRequests: false)
        let notes = Notes()
        let subscription = SessionFeed(auth).subscribe { notes.add($0) }
        await subscription.catchUp()
        auth.become(HandmadeAuth.left, silently: true)
        for _ in 1...2 { await subscription.catchUp() }
        #expect(notes.texts == ["alice", "wipe alice", "out"])
    }

    @Test func `The stream is left with the last subscriber, and followed again with the next`() async throws {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let feed = SessionFeed(auth)
        var first: SessionSubscription? = feed.subscribe { _ in }
        let second = feed.subscribe { _ in }
        try await eventually("the stream is open") { auth.streams == 1 }
        first = nil
        #expect(first == nil && auth.streams == 1)
        second.stop()
        try await eventually("the stream is left") { auth.streams == 0 }
        let notes = Notes()
        let third = feed.subscribe { notes.add($0) }
        try await eventually("the stream is open again") { auth.streams == 1 && notes.texts == ["alice"] }
        third.stop()
    }

    @Test func `No call goes ahead while a change is being carried out`() async {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let notes = Notes()
        let subscription = SessionFeed(auth).subscribe { change in
            for _ in 0..<20 { await Task.yield() }
            notes.add(change)
        }
        for number in 1...100 {
            let user = "user \(number)"
            auth.become(HandmadeAuth.user(user), silently: number.isMultiple(of: 3))
            await withTaskGroup(of: AuthUser.ID?.self) { group in
                for _ in 1...16 {
                    group.addTask {
                        let session = await subscription.catchUp()
                        return notes.all.last == .state(session.state) ? session.state.user?.id : nil
                    }
                }
                for await seen in group { #expect(seen == user) }
            }
        }
    }

    @Test func `A token at hand costs no call, and a refused one is asked for`() async throws {
        let auth = HandmadeAuth(HandmadeAuth.user("alice"))
        let feed = SessionFeed(auth)
        let token = AccessToken(
            value: "at hand", expiresAt: Timestamp(clampingSeconds: 4_000_000_000, nanoseconds: 0), userID: "alice")
        auth.become(HandmadeAuth.user("alice"), token: token)
        #expect(try await feed.token() == token)
        #expect(auth.tokenCalls == 0)
        #expect(try await feed.token(refreshing: true).value == "asked 1")
        auth.become(HandmadeAuth.user("alice"))
        #expect(try await feed.token().value == "asked 2")
    }
}

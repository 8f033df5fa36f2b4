import Foundation
import Switchyard
import SwitchyardProviderKit
import SwitchyardTestSupport
import Synchronization
import Testing

/// The engine around the machine: real tasks, real files, a scripted server.
@Suite struct SessionEngineTests {
    /// Answers refreshes when the test says so.
    private final class Server: Sendable {
        private struct State {
            var calls: [String] = []
            var held: [CheckedContinuation<Void, Never>] = []
            var isHolding = false
            var failure: AuthError?
            var generation = 1
        }
        private let state = Mutex(State())

        var calls: [String] { state.withLock { $0.calls } }
        var heldCount: Int { state.withLock { $0.held.count } }
        func hold() { state.withLock { $0.isHolding = true } }
        func fail(_ error: AuthError?) { state.withLock { $0.failure = error } }
        func letGo() {
            let held = state.withLock { state in
                state.isHolding = false
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        func refresh(_ session: AuthSession, _ now: Timestamp) async -> RefreshAnswer {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    state.calls.append(session.tokens?.refresh.reveal() ?? "")
                    if state.isHolding { state.held.append(continuation) }
                    return !state.isHolding
                }
                if goesOn { continuation.resume() }
            }
            return state.withLock { state in
                if let failure = state.failure { return .failed(failure) }
                state.generation += 1
                let name = "\(session.user.id)-\(state.generation)"
                return .renewed(
                    SessionTokens(
                        refresh: Secret("refresh-\(name)"), access: Secret("access-\(name)"), issuedAt: now,
                        lifetime: .seconds(3600)), nil)
            }
        }
    }

    private let server = Server()
    private let time = SettableTime(1000)

    private func engine(
        _ store: any SessionStore, report: @escaping @Sendable (InfrastructureEvent.Kind) -> Void = { _ in }
    ) -> SessionEngine {
        SessionEngine(store: store, now: time.now, report: report) { [server, time] session in
            await server.refresh(session, time.now())
        }
    }

    private func signIn(_ engine: SessionEngine, _ user: String = "alice") async throws {
        let attempt = try await engine.beginAttempt()
        try await engine.begin(
            AuthUser(id: user), tokens: SessionSamples.tokens("\(user)-1", at: time.value), attempt: attempt)
    }

    @Test func `A sign-out that the device cannot save is reported, and may be tried again`() async throws {
        let store = StuckSessionStore()
        let engine = engine(store)
        try await signIn(engine)
        store.isStuck = true
        for _ in 1...2 {
            let error = await #expect(throws: AuthError.self) {
                try await engine.end(SignOut(.byUser), engine.session)
            }
            #expect(error?.code == .localStore && error?.isRetryable == true)
            #expect(await engine.state == .signedOut(SignOut(.byUser)), "no user is signed in here")
        }
        store.isStuck = false
        try await engine.end(SignOut(.byUser), engine.session)
        store.isStuck = true
        try await engine.end(SignOut(.byUser), engine.session)
        await engine.shutDown()
    }

    @Test func `New tokens are stored although the client was shut down, unless somebody else signed in`() async throws
    {
        let folder = SessionFolder()
        let first = engine(FileSessionStore(folder: folder.url))
        try await signIn(first)
        let session = try await first.currentSession()
        await first.shutDown()
        let changed = SessionSamples.tokens("changed", at: time.value)
        try await first.update(session.user, tokens: changed, in: session)
        await #expect(throws: AuthError.self) { try await first.update(session.user, in: session) }
        let second = engine(FileSessionStore(folder: folder.url))
        #expect(try await second.accessToken().value == "access-changed")
        try await signIn(second, "bob")
        await #expect(throws: AuthError.self) {
            try await first.update(session.user, tokens: changed, in: session)
        }
        #expect(await second.state == .signedIn(AuthUser(id: "bob")))
    }

    @Test func `A session outlasts its engine, and a sign-out too`() async throws {
        let folder = SessionFolder()
        let first = engine(FileSessionStore(folder: folder.url))
        #expect(await first.state == .signedOut(SignOut(.never)))
        try await signIn(first)
        await first.shutDown()
        let second = engine(FileSessionStore(folder: folder.url))
        #expect(await second.state == .signedIn(AuthUser(id: "alice")))
        #expect(try await second.accessToken().value == "access-alice-1")
        try await second.end(SignOut(.byUser), second.session)
        #expect(await engine(FileSessionStore(folder: folder.url)).state == .signedOut(SignOut(.byUser)))
    }

    @Test func `Fifty who ask for a token that has run out share one refresh`() async throws {
        let engine = engine(MemorySessionStore())
        try await signIn(engine)
        time.value += 4000
        server.hold()
        let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<50 { group.addTask { try await engine.accessToken() } }
            try await eventually("all of them wait") { await engine.waiterCount == 50 }
            try await eventually("the server is asked") { server.heldCount == 1 }
            server.letGo()
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == 1 && server.calls == ["refresh-alice-1"])
    }

    @Test func `A refresh is reported once, whoever asked for it, and with its failure`() async throws {
        let reported = Mutex<[InfrastructureEvent.Kind]>([])
        let engine = engine(MemorySessionStore()) { kind in reported.withLock { $0.append(kind) } }
        try await signIn(engine)
        _ = try await engine.accessToken()
        #expect(reported.withLock { $0 } == [])
        time.value += 4000
        server.fail(AuthError(.unavailable, "No one there.", isRetryable: true))
        await #expect(throws: AuthError.self) { try await engine.accessToken() }
        server.fail(nil)
        time.value += 60
        server.hold()
        let tokens = (0..<3).map { _ in Task { try await engine.accessToken() } }
        try await eventually("all of them wait") { await engine.waiterCount == 3 }
        server.letGo()
        for token in tokens { _ = try await token.value }
        #expect(
            reported.withLock { $0 } == [
                .tokenRefreshed(failure: .init(.unavailable, "No one there.")), .tokenRefreshed(failure: nil),
            ])
    }

    @Test func `A cancelled waiter leaves alone`() async throws {
        let engine = engine(MemorySessionStore())
        try await signIn(engine)
        server.hold()
        let impatient = Task { try await engine.accessToken(refreshing: true) }
        let patient = Task { try await engine.accessToken(refreshing: true) }
        try await eventually("both wait") { await engine.waiterCount == 2 }
        impatient.cancel()
        await #expect(throws: AuthError.self) { try await impatient.value }
        server.letGo()
        #expect(try await patient.value.value == "access-alice-2")
        #expect(server.calls.count == 1)
    }

    @Test func `Signing out while the server answers is final`() async throws {
        let folder = SessionFolder()
        let engine = engine(FileSessionStore(folder: folder.url))
        try await signIn(engine)
        server.hold()
        let refresh = Task { () async -> AuthError.Code? in
            do throws(AuthError) {
                _ = try await engine.accessToken(refreshing: true)
                return nil
            } catch {
                return error.code
            }
        }
        try await eventually("the server is asked") { server.heldCount == 1 }
        try await engine.end(SignOut(.byUser), engine.session)
        #expect(await refresh.value == .sessionChanged)
        server.letGo()
        try await signIn(engine, "bob")
        #expect(try await engine.accessToken(refreshing: true).userID == "bob")
        #expect(try await engine.accessToken().value == "access-bob-3")
    }

    @Test func `Two processes on one file refresh one after the other, the second with what the first got`()
        async throws
    {
        let folder = SessionFolder()
        let first = engine(FileSessionStore(folder: folder.url))
        let second = engine(FileSessionStore(folder: folder.url))
        try await signIn(first)
        #expect(await second.state == .signedIn(AuthUser(id: "alice")))
        time.value += 4000
        server.hold()
        let one = Task { try await first.accessToken() }
        try await eventually("the first asks the server") { server.heldCount == 1 }
        let two = Task { try await second.accessToken() }
        try await eventually("the second waits") { await second.waiterCount == 1 }
        server.letGo()
        #expect(try await one.value == two.value)
        #expect(server.calls == ["refresh-alice-1"], "the second adopted the token of the first")
        time.value += 4000
        _ = try await second.accessToken()
        #expect(server.calls.last == "refresh-alice-2", "and refreshes with the newest")
    }

    @Test func `A sign-out in one process is known in the other`() async throws {
        let folder = SessionFolder()
        let first = engine(FileSessionStore(folder: folder.url))
        let second = engine(FileSessionStore(folder: folder.url))
        try await signIn(first)
        _ = try await second.accessToken()
        try await first.end(SignOut(.byUser), first.session)
        #expect(await second.state == .signedOut(SignOut(.byUser)))
        await #expect(throws: AuthError.self) { try await second.accessToken() }
    }

    @Test func `A store that is locked is read as soon as it can be`() async throws {
        let store = MemorySessionStore()
        try await signIn(engine(store))
        store.isLocked = true
        let locked = engine(store)
        #expect(await locked.state == .locked)
        store.isLocked = false
        #expect(await locked.state == .signedIn(AuthUser(id: "alice")))
    }

    @Test func `A stream of a locked device's state goes on once the device is unlocked, without a call`() async throws
    {
        let store = MemorySessionStore()
        try await signIn(engine(store))
        store.isLocked = true
        let clock = ManualClock()
        let locked = SessionEngine(store: store, clock: clock, now: { Timestamp(microseconds: 0) }) { _ in
            .failed(AuthError(.unavailable, "unused"))
        }
        var states = locked.stateStream.makeAsyncIterator()
        while let state = await states.next(), state != .locked {}
        try await eventually("the next read is scheduled") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await eventually("it is still locked, and reads later") { clock.deadlines.first?.offset == .seconds(3) }
        store.isLocked = false
        clock.advance(by: .seconds(2))
        while let state = await states.next(), state != .signedIn(AuthUser(id: "alice")) {}
        #expect(clock.sleeperCount == 0, "nothing is scheduled any more")
        await locked.shutDown()
    }

    @Test func `A file that cannot be read for a while signs no one out, and no token is lost`() async throws {
        let folder = SessionFolder()
        let reported = Mutex<[InfrastructureEvent.Kind]>([])
        let engine = engine(FileSessionStore(folder: folder.url)) { kind in reported.withLock { $0.append(kind) } }
        try await signIn(engine)
        let aside = folder.url.appendingPathComponent("aside")
        try FileManager.default.moveItem(at: folder.file, to: aside)
        // A folder in its place cannot be read by anybody.
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: false)
        time.value += 4000
        #expect(try await engine.accessToken().value == "access-alice-2")
        #expect(await engine.state == .signedIn(AuthUser(id: "alice")))
        #expect(reported.withLock { $0.contains { if case .notice = $0 { true } else { false } } })
        try FileManager.default.removeItem(at: folder.file)
        try FileManager.default.moveItem(at: aside, to: folder.file)
        time.value += 4000
        #expect(try await engine.accessToken().value == "access-alice-3")
        #expect(server.calls == ["refresh-alice-1", "refresh-alice-2"])
        let next = self.engine(FileSessionStore(folder: folder.url))
        #expect(try await next.accessToken().value == "access-alice-3", "and the newest is saved")
    }

    @Test func `Streams deliver each state in order, end with the engine, and let go`() async throws {
        let engine = engine(MemorySessionStore())
        let seen = Mutex<[AuthState]>([])
        let watching = Task {
            for await state in engine.stateStream { seen.withLock { $0.append(state) } }
        }
        try await eventually("the first state is known") { seen.withLock { $0.last == .signedOut(SignOut(.never)) } }
        try await signIn(engine)
        try await eventually("somebody is signed in") { seen.withLock { $0.last?.isSignedIn == true } }
        _ = try await engine.accessToken(refreshing: true)
        try await engine.end(SignOut(.byUser), engine.session)
        try await eventually("no one is") { seen.withLock { $0.last == .signedOut(SignOut(.byUser)) } }
        #expect(seen.withLock { $0.filter(\.isSignedIn).count } == 1, "a new token is no new state")
        for await _ in engine.stateStream { break }
        try await eventually("one listener is left") { engine.listenerCount == 1 }
        await engine.shutDown()
        await watching.value
        #expect(engine.listenerCount == 0)
    }

    @Test func `The end of an engine ends those who wait`() async throws {
        let engine = engine(MemorySessionStore())
        try await signIn(engine)
        server.hold()
        let waiting = Task { try await engine.accessToken(refreshing: true) }
        try await eventually("the server is asked") { server.heldCount == 1 }
        await engine.shutDown()
        await #expect(throws: AuthError.self) { try await waiting.value }
        server.letGo()
    }
}

import Switchyard
import SwitchyardProviderKit
import Testing

@Suite struct SessionMachineTests {
    private let alice = SessionSamples.session("a")
    private func renewed(_ name: String, at: Int64) -> RefreshAnswer {
        .renewed(SessionSamples.tokens(name, at: at), nil)
    }

    // MARK: States

    @Test func `What is stored decides the first state`() {
        var over = alice
        over.tokens = nil
        #expect(SessionMachine().state == .unknown)
        #expect(SessionBench(.none).published == [.signedOut(SignOut(.never))])
        #expect(SessionBench(.signedOut(SignOut(.byUser))).published == [.signedOut(SignOut(.byUser))])
        #expect(SessionBench(.session(alice)).published == [.signedIn(alice.user)])
        #expect(SessionBench(.session(over)).published == [.expired(alice.user)])
    }

    @Test func `A store that cannot be read is locked until it can`() {
        var machine = SessionMachine()
        _ = machine.handle(.unreadable, at: SessionSamples.time(0))
        #expect(machine.state == .locked && machine.isUnread)
        guard case .failure(let error) = machine.currentSession() else { return #expect(Bool(false)) }
        #expect(error.code == .localStore && error.isRetryable)
        _ = machine.handle(.found(.session(alice)), at: SessionSamples.time(0))
        #expect(machine.state == .signedIn(alice.user))
        // A device that locks again leaves a session that is in use.
        _ = machine.handle(.unreadable, at: SessionSamples.time(0))
        #expect(machine.state == .signedIn(alice.user))
    }

    // MARK: Tokens

    @Test func `A good token is given at once`() {
        var bench = SessionBench(.session(alice))
        bench.want(1)
        #expect(bench.token(1) == "access-alice-1" && bench.prepared.isEmpty)
    }

    @Test func `A token that soon runs out is given and renewed meanwhile`() {
        var bench = SessionBench(.session(alice))
        bench.now = 3400
        bench.want(1)
        bench.want(2)
        #expect(bench.token(1) == "access-alice-1" && bench.token(2) == "access-alice-1")
        #expect(bench.prepared == [1])
        bench.prepare(1)
        bench.send(.answered(1, renewed("next", at: 3400)))
        bench.want(3)
        #expect(bench.token(3) == "access-next" && bench.prepared == [1])
        #expect(bench.published == [.signedIn(alice.user)], "tokens are no new state")
    }

    @Test func `Many who ask when it has run out wait for one refresh`() {
        var bench = SessionBench(.session(alice))
        bench.now = 3590
        for waiter in 1...10 { bench.want(waiter) }
        #expect(bench.prepared == [1] && bench.results.isEmpty)
        bench.prepare(1)
        #expect(bench.calls.map(\.number) == [1])
        bench.send(.answered(1, renewed("next", at: 3590)))
        for waiter in 1...10 { #expect(bench.token(waiter) == "access-next") }
    }

    @Test func `Each who stops waiting leaves alone, and the refresh goes on`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.want(2, refreshing: true)
        bench.prepare(1)
        bench.send(.waiterLeft(1))
        bench.send(.waiterLeft(2))
        #expect(bench.code(1) == .cancelled && bench.code(2) == .cancelled && bench.abandoned.isEmpty)
        bench.send(.answered(1, renewed("next", at: 0)))
        #expect(bench.record.session?.tokens?.refresh == "refresh-next", "what the server issued is saved")
    }

    @Test func `A clock set back makes a token suspect`() {
        var bench = SessionBench(.session(SessionSamples.session("a", at: 10_000)))
        bench.now = 5000
        bench.want(1)
        #expect(bench.results.isEmpty && bench.prepared == [1])
    }

    // MARK: Failures

    @Test func `No failure ends a session, and a token that is left is given`() {
        var bench = SessionBench(.session(alice))
        bench.now = 3590
        bench.want(1)
        bench.want(2, refreshing: true)
        bench.prepare(1)
        bench.send(.answered(1, .failed(SessionSamples.unavailable)))
        #expect(bench.token(1) == "access-alice-1")
        #expect(bench.code(2) == .unavailable, "who asked for a new one learns that there is none")
        #expect(bench.machine.state == .signedIn(alice.user))
        bench.now = 3601
        bench.want(3)
        bench.prepare(2)
        bench.send(.answered(2, .failed(SessionSamples.unavailable)))
        #expect(bench.code(3) == .unavailable && bench.machine.state == .signedIn(alice.user))
    }

    @Test func `An early refresh that failed is not tried again at once`() {
        var bench = SessionBench(.session(alice))
        bench.now = 3400
        bench.want(1)
        bench.prepare(1)
        bench.send(.answered(1, .failed(SessionSamples.unavailable)))
        bench.want(2)
        #expect(bench.prepared == [1])
        bench.now = 3431
        bench.want(3)
        #expect(bench.prepared == [1, 2])
    }

    @Test func `A refused refresh token ends the session and keeps its user`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.prepare(1)
        bench.send(.answered(1, .refused(.expired, SessionSamples.refused)))
        #expect(bench.code(1) == .sessionExpired)
        #expect(bench.published.last == .expired(alice.user))
        bench.want(2)
        #expect(bench.code(2) == .sessionExpired && bench.calls.count == 1)
    }

    @Test func `An account that is gone is signed out by the server`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.prepare(1)
        bench.send(.answered(1, .refused(.signedOut, AuthError(.userDisabled, "The account is disabled."))))
        #expect(bench.code(1) == .userDisabled && bench.published.last == .signedOut(SignOut(.byServer)))
    }

    // MARK: Overtaken

    @Test func `A sign-out during a refresh is final`() {
        for isPrepared in [false, true] {
            var bench = SessionBench(.session(alice))
            bench.want(1, refreshing: true)
            if isPrepared { bench.prepare(1) }
            bench.send(.ended(SignOut(.byUser), session: "a"))
            #expect(bench.code(1) == .sessionChanged && bench.abandoned == [1])
            bench.prepare(1)
            bench.send(.answered(1, renewed("late", at: 0)))
            #expect(bench.record == .signedOut(SignOut(.byUser)) && bench.calls.count == (isPrepared ? 1 : 0))
        }
    }

    @Test func `A refusal that comes after a sign-out does not change its reason`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.prepare(1)
        bench.send(.ended(SignOut(.byUser, wipesLocalData: true), session: "a"))
        bench.send(.answered(1, .refused(.signedOut, SessionSamples.refused)))
        #expect(bench.machine.state == .signedOut(SignOut(.byUser, wipesLocalData: true)))
    }

    @Test func `Another user's sign-in during a refresh takes the place of both`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.prepare(1)
        let bob = SessionSamples.session("b", user: "bob")
        bench.send(.began(bob, attempt: bench.machine.nextAttempt()))
        #expect(bench.code(1) == .sessionChanged && bench.machine.state == .signedIn(bob.user))
        bench.send(.answered(1, renewed("late", at: 0)))
        bench.want(2)
        #expect(bench.token(2) == "access-bob-1" && bench.record == .session(bob))
        bench.want(3, session: "a")
        #expect(bench.code(3) == .sessionChanged)
    }

    @Test func `The sign-in begun last has the last word, and a sign-out takes back all before it`() {
        var bench = SessionBench()
        let (first, second) = (bench.machine.nextAttempt(), bench.machine.nextAttempt())
        #expect(bench.send(.began(SessionSamples.session("b", user: "bob"), attempt: second)) != nil)
        #expect(bench.send(.began(alice, attempt: first)) == nil)
        #expect(bench.machine.session?.id == "b")
        let third = bench.machine.nextAttempt()
        bench.send(.ended(SignOut(.byUser), session: "b"))
        #expect(bench.send(.began(alice, attempt: third)) == nil)
        #expect(bench.send(.began(alice, attempt: bench.machine.nextAttempt())) != nil)
    }

    @Test func `A sign-out where no user is signed in also takes back sign-ins under way`() {
        var bench = SessionBench()
        let attempt = bench.machine.nextAttempt()
        bench.send(.ended(SignOut(.byUser), session: nil))
        #expect(bench.send(.began(alice, attempt: attempt)) == nil)
        #expect(bench.machine.state == .signedOut(SignOut(.never)))
    }

    @Test func `New tokens of another call are stronger than a refresh under way`() {
        for answer in [renewed("late", at: 0), .refused(.expired, SessionSamples.refused)] {
            var bench = SessionBench(.session(alice))
            bench.want(1, refreshing: true)
            bench.prepare(1)
            bench.send(.updated(alice.user, SessionSamples.tokens("changed"), session: "a"))
            bench.send(.answered(1, answer))
            #expect(bench.record.session?.tokens?.access == "access-changed")
            if case .renewed = answer {
                #expect(bench.token(1) == "access-changed")
            } else {
                // The refusal was about the old tokens: the new ones are tried.
                #expect(bench.results.isEmpty && bench.prepared == [1, 2])
                bench.prepare(2)
                bench.send(.answered(2, renewed("newest", at: 0)))
                #expect(bench.token(1) == "access-newest")
            }
        }
    }

    // MARK: Another process

    @Test func `What another process has fetched is adopted instead of refreshing`() {
        var bench = SessionBench(.session(alice))
        bench.now = 3600
        bench.want(1)
        bench.elsewhere(.session(SessionSamples.session("a", revision: 2, at: 3600)))
        bench.prepare(1)
        #expect(bench.calls.isEmpty && bench.token(1) == "access-alice-2")
        #expect(!bench.machine.isRefreshing)
    }

    @Test func `What another process has fetched long ago is refreshed with its newer token`() {
        var bench = SessionBench(.session(alice))
        bench.now = 9000
        bench.want(1)
        bench.elsewhere(.session(SessionSamples.session("a", revision: 5, at: 3600)))
        bench.prepare(1)
        #expect(bench.calls.first?.session.tokens?.refresh == "refresh-alice-5")
        bench.send(.answered(1, renewed("next", at: 9000)))
        #expect(bench.token(1) == "access-next" && bench.record.session?.revision == 6)
    }

    @Test func `A sign-out in another process is found before refreshing`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.elsewhere(.signedOut(SignOut(.byUser)))
        bench.prepare(1)
        #expect(bench.calls.isEmpty && bench.code(1) == .sessionChanged)
        #expect(bench.published.last == .signedOut(SignOut(.byUser)))
    }

    @Test func `A sign-out in another process while the server answers is final`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.prepare(1)
        bench.elsewhere(.signedOut(SignOut(.byUser)))
        bench.send(.answered(1, renewed("late", at: 0)))
        #expect(bench.record == .signedOut(SignOut(.byUser)) && bench.code(1) == .sessionChanged)
    }

    @Test func `Signing out somebody else than the one meant is refused`() {
        var bench = SessionBench(.session(alice))
        let bob = SessionRecord.session(SessionSamples.session("b", user: "bob"))
        bench.elsewhere(bob)
        bench.send(.ended(SignOut(.byUser), session: "a"))
        #expect(bench.record == bob && bench.machine.session?.id == "b")
    }

    // MARK: The end

    @Test func `After the end nothing changes any more`() {
        var bench = SessionBench(.session(alice))
        bench.want(1, refreshing: true)
        bench.prepare(1)
        bench.send(.shutDown)
        #expect(bench.code(1) == .shutDown && bench.abandoned == [1])
        bench.send(.answered(1, .refused(.expired, SessionSamples.refused)))
        bench.send(.ended(SignOut(.byUser), session: "a"))
        bench.want(2)
        #expect(bench.code(2) == .shutDown && bench.record == .session(alice))
        #expect(bench.published == [.signedIn(alice.user)])
    }
}

import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct MockAuthTests {
    let time = TestTime()
    let backend: MockBackend
    let network = MockNetwork()
    let auth: MockAuthClient

    init() {
        let time = time
        backend = MockBackend(now: { time.now })
        auth = MockAuthClient(backend, network: network)
    }

    @Test func `A token that runs out is refreshed once for all who ask`() async throws {
        try await auth.signUp(email: "alice@example.com", password: "secret")
        let first = try await auth.accessToken()
        #expect(backend.accounts.accepts(first))
        time.advance(by: .seconds(3590))
        auth.controls.isRecording = true
        let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<20 { group.addTask { try await auth.accessToken() } }
            return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(!tokens.contains(first))
        #expect(auth.controls.calls.map(\.operation) == ["refresh token"])
    }

    @Test func `Without a network no one is signed out`() async throws {
        try await auth.signUp(email: "alice@example.com", password: "secret")
        time.advance(by: .seconds(7200))
        network.isOnline = false
        do throws(AuthError) {
            _ = try await auth.accessToken()
            Issue.record("A token came out of nowhere.")
        } catch {
            #expect(error.code == .unavailable && error.isRetryable)
        }
        #expect(await auth.currentUser != nil)
        network.isOnline = true
        _ = try await auth.accessToken()
    }

    @Test func `A session that the server ended is expired, and its user still known`() async throws {
        let user = try await auth.signUp(email: "alice@example.com", password: "secret").get()
        backend.accounts.endSessions(of: user.id)
        await #expect(throws: AuthError.self) { try await auth.accessToken(refreshing: true) }
        #expect(await auth.state == .expired(user))
        try await auth.signIn(email: "alice@example.com", password: "secret")
        #expect(await auth.state.isSignedIn)
    }

    @Test func `A disabled account is signed out by the server`() async throws {
        let user = try await auth.signUp(email: "alice@example.com", password: "secret").get()
        backend.accounts.setDisabled(true, user.id)
        await #expect(throws: AuthError.self) { try await auth.reloadUser() }
        #expect(await auth.state == .signedOut(SignOut(.byServer)))
    }

    @Test func `A locked device says so, and shows the session once it is unlocked`() async throws {
        let store = MockSessionStore()
        try await MockAuthClient(backend, store: store).signUp(email: "alice@example.com", password: "secret")
        store.isLocked = true
        let later = MockAuthClient(backend, store: store)
        #expect(await later.state == .locked)
        let states = Gathered(later.authStateStream())
        try await eventually("the first state") { states.all.count == 1 }
        store.isLocked = false
        try await eventually("the session") { states.last?.isSignedIn == true }
    }

    @Test func `Great changes ask for a recent sign-in`() async throws {
        try await auth.signUp(email: "alice@example.com", password: "secret")
        time.advance(by: .seconds(301))
        do throws(AuthError) {
            try await auth.changePassword(to: "another")
            Issue.record("The password was changed.")
        } catch {
            #expect(error.code == .recentSignInRequired)
        }
        try await auth.reauthenticate(with: .password(email: "alice@example.com", "secret"))
        try await auth.changePassword(to: "another")
    }

    @Test func `The page of a browser sign-in carries a proof key and not its secret half`() async throws {
        let redirect = try #require(URL(string: "app://callback"))
        let signIn = try await auth.beginBrowserSignIn(with: .google, redirectURL: redirect, scopes: ["email"])
        #expect(signIn.url.absoluteString.contains("code_challenge_method=S256"))
        let callback = try backend.accounts.authorize(signIn, as: "g-1", email: "alice@example.com")
        let user = try await auth.signIn(with: .browser(signIn, callback: callback))
        #expect(user.identities == [.google] && user.email == "alice@example.com")
        let other = MockAuthClient(backend)
        await #expect(throws: AuthError.self) { try await other.signIn(with: .browser(signIn, callback: callback)) }
    }

    @Test func `A call that another sign-in overtakes changes nothing`() async throws {
        let clock = ManualClock()
        let slow = MockAuthClient(backend, network: MockNetwork(clock: clock))
        try await slow.signUp(email: "alice@example.com", password: "secret")
        slow.controls.network.latency = .seconds(1)
        let change = Task { try await slow.updateAccount(AccountChanges(displayName: "Al")) }
        try await eventually("the call is on its way") { clock.sleeperCount == 1 }
        slow.controls.network.latency = .zero
        try await slow.signUp(email: "bob@example.com", password: "secret")
        clock.advance(by: .seconds(1))
        do {
            _ = try await change.value
            Issue.record("The change was made.")
        } catch {
            #expect((error as? AuthError)?.code == .sessionChanged)
        }
        #expect(await slow.currentUser?.displayName == nil)
    }

    @Test func `One-time codes are those of the standard`() throws {
        // The key of RFC 6238, "12345678901234567890", and its code for second 59, cut to six digits.
        let backend = MockBackend(now: { try! Timestamp(validatingSeconds: 59, nanoseconds: 0) })
        #expect(backend.accounts.oneTimeCode(for: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ") == "287082")
    }

    @Test func `A nonce that does not belong to the token is refused`() async throws {
        let token = backend.accounts.identityToken(of: .apple, subject: "a-1", email: nil, nonce: "right")
        await #expect(throws: AuthError.self) {
            try await auth.signIn(with: .identityToken(.apple, token, rawNonce: "wrong"))
        }
        try await auth.signIn(with: .identityToken(.apple, token, rawNonce: "right"))
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What becomes of a session: refreshes, calls for somebody who is signed in, and leaving.
@Suite struct SupabaseSessionTests {
    private typealias Bed = SupabaseAuthBed
    private let password = "/token?grant_type=password"
    private let refreshPath = "/token?grant_type=refresh_token"

    private func refreshCode(_ bed: SupabaseAuthBed) async -> AuthError.Code? {
        await bed.code { () async throws(AuthError) in try await bed.client.accessToken(refreshing: true) }
    }

    // MARK: Refreshing

    @Test func `Every refresh uses the token that the last one gave`() async throws {
        let bed = try await Bed.signedIn(Bed.refreshed("second"), Bed.refreshed("third"))
        bed.now += 3590
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken("second"))
        bed.now += 3590
        _ = try await bed.client.accessToken()
        #expect(bed.body(1) == ["refresh_token": "refresh-first"] && bed.body(2) == ["refresh_token": "refresh-second"])
        #expect(bed.bearer(1) == nil)
        try bed.transport.verify()
    }

    @Test func `A lost answer is asked for again with the same token, which the server forgives`() async throws {
        let lost = ScriptedExchange.on(
            .post, Bed.address + refreshPath, .failure(TransportError(.connectionLost, "x", mayHaveBeenSent: true)))
        let bed = try await Bed.signedIn(lost, Bed.refreshed("second"))
        #expect(await refreshCode(bed) == .unavailable)
        #expect(await bed.client.state.isSignedIn)
        #expect(await refreshCode(bed) == nil)
        #expect(bed.body(1) == bed.body(2))
    }

    @Test(arguments: [
        ("refresh_token_not_found", 400), ("refresh_token_already_used", 400), ("session_not_found", 400),
        ("session_expired", 400), ("validation_failed", 400),
    ])
    func `A refusal of the refresh token ends the session and keeps its user`(code: String, status: Int) async throws {
        let bed = try await Bed.signedIn(Bed.refusal(.post, refreshPath, code, status: status))
        let user = try #require(await bed.client.currentUser)
        #expect(await refreshCode(bed) == .sessionExpired)
        #expect(await bed.client.state == .expired(user))
    }

    @Test func `An account that is barred is signed out`() async throws {
        let bed = try await Bed.signedIn(Bed.refusal(.post, refreshPath, "user_banned"))
        #expect(await refreshCode(bed) == .userDisabled)
        #expect(await bed.client.state == .signedOut(SignOut(.byServer)))
    }

    @Test(arguments: [
        ("<html>", 500), ("{}", 200), (#"{"code":"over_request_rate_limit","message":""}"#, 429), ("{}", 504),
        ("", 400),
    ])
    func `No failure signs anybody out`(answer: String, status: Int) async throws {
        let bed = try await Bed.signedIn(Bed.on(.post, refreshPath, answer, status: status))
        #expect([.unavailable, .rateLimited].contains(await refreshCode(bed)))
        #expect(await bed.client.state.isSignedIn)
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken())
    }

    @Test func `A key that the project does not take signs no one out`() async throws {
        let answer = #"{"message":"Invalid API key","hint":"x"}"#
        let bed = try await Bed.signedIn(
            Bed.on(.post, refreshPath, answer, status: 401), Bed.on(.get, "/user", answer, status: 401))
        #expect(await refreshCode(bed) == .unauthenticated)
        let reloading = await bed.code { () async throws(AuthError) in try await bed.client.reloadUser() }
        #expect(reloading == .unauthenticated)
        #expect(await bed.client.state.isSignedIn)
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken())
        try bed.transport.verify()
    }

    @Test func `What a refresh brings after a sign-out, or for somebody who was replaced, is dropped`() async throws {
        for isReplaced in [false, true] {
            let gate = Gate()
            let late = ScriptedExchange.on(
                .post, Bed.address + refreshPath, ScriptedReply.json(Bed.session("late")).delayed(until: gate))
            let bed = try await Bed.signedIn(late)
            let refresh = Task { await refreshCode(bed) }
            try await eventually("the server is asked") { gate.waiting == 1 }
            if isReplaced {
                bed.transport.expect(Bed.on(.post, password, Bed.session("bob", user: Bed.user("bob"))))
                try await bed.client.signIn(email: "bob@example.com", password: "x")
            } else {
                bed.transport.expect(.on(.post, Bed.address + "/logout?scope=local", .status(204)))
                try await bed.client.signOut()
            }
            #expect(await refresh.value == .sessionChanged, "waiting calls fail at once")
            gate.open()
            #expect(await bed.client.currentUser?.id == (isReplaced ? "bob" : nil))
            if isReplaced { #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken("bob")) }
        }
    }

    @Test func `A refresh that another one is in the way of is tried again after a pause`() async throws {
        let clock = ManualClock()
        let busy = Bed.refusal(.post, refreshPath, "conflict", status: 409)
        let bed = try await Bed.signedIn(busy, busy, Bed.refreshed("second"), clock: clock)
        let refresh = Task { await refreshCode(bed) }
        // Small steps: the deadline of a call runs by the same clock.
        try await eventually("the third attempt") {
            clock.advance(by: .milliseconds(10))
            return bed.transport.requests.count == 4
        }
        #expect(await refresh.value == nil)
        try bed.transport.verify()
    }

    // MARK: The account

    @Test func `A change is laid over the account, and null takes away`() async throws {
        let named = Bed.user("alice", "").replacing(
            #""user_metadata":{}"#, with: #""user_metadata":{"full_name":"A","avatar_url":"https://x/a"}"#)
        let bed = try await Bed.signedIn(Bed.on(.put, "/user", named), Bed.on(.put, "/user", Bed.user()))
        let photo = URL(string: "https://x/a")
        let user = try await bed.client.updateAccount(AccountChanges(displayName: "A", photoURL: photo))
        #expect(user.displayName == "A" && user.photoURL == photo)
        #expect(bed.body(1) == ["data": ["full_name": "A", "avatar_url": "https://x/a"]])
        #expect(try await bed.client.updateAccount(AccountChanges(displayName: "")).displayName == nil)
        #expect(bed.body(2) == ["data": ["full_name": .null]])
        #expect(bed.bearer(1) == "Bearer \(Bed.accessToken())")
    }

    @Test func `A token that is not taken is replaced once, and the call repeated`() async throws {
        let bed = try await Bed.signedIn(
            Bed.refusal(.get, "/user", "bad_jwt", status: 403), Bed.refreshed("second"),
            Bed.on(.get, "/user", Bed.user()))
        _ = try await bed.client.reloadUser()
        #expect(bed.bearer(3) == "Bearer \(Bed.accessToken("second"))")
    }

    @Test(arguments: ["conflict", "request_timeout", "unexpected_failure", "over_request_rate_limit"])
    func `A server that is in trouble has not refused the session`(code: String) async throws {
        let bed = try await Bed.signedIn(Bed.refusal(.get, "/user", code, status: 500))
        _ = await bed.code { () async throws(AuthError) in try await bed.client.reloadUser() }
        #expect(await bed.client.state.isSignedIn)
    }

    @Test(arguments: [("user_not_found", true), ("session_not_found", false)])
    func `A session that is gone on the server is over here`(code: String, isSignedOut: Bool) async throws {
        let bed = try await Bed.signedIn(Bed.refusal(.get, "/user", code, status: 403))
        let user = try #require(await bed.client.currentUser)
        let found = await bed.code { () async throws(AuthError) in try await bed.client.reloadUser() }
        #expect(found == .sessionExpired)
        #expect(await bed.client.state == (isSignedOut ? .signedOut(SignOut(.byServer)) : .expired(user)))
    }

    @Test func `An anonymous account gets its address first and its password then`() async throws {
        let bed = try await Bed.signedIn(
            Bed.on(.put, "/user", Bed.user()), Bed.on(.put, "/user", Bed.user()),
            Bed.on(.put, "/user", #"{"id":"alice","email":"","new_email":"alice@example.com"}"#))
        try await bed.client.link(.password(email: "alice@example.com", "x"))
        #expect(bed.body(1) == ["email": "alice@example.com"] && bed.body(2) == ["password": "x"])
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.link(.password(email: "alice@example.com", "x"))
        }
        #expect(code == .emailNotConfirmed)
    }

    @Test(arguments: [true, false])
    func `A linked identity is there at once, although the answer has those from before`(isFetched: Bool) async throws {
        let now =
            #"{"id":"alice","email":"alice@example.com","identities":[{"provider":"email"},{"provider":"google"}]}"#
        let bed = try await Bed.signedIn(
            Bed.on(.post, "/token?grant_type=id_token", Bed.session("linked")),
            isFetched ? Bed.on(.get, "/user", now) : Bed.on(.get, "/user", "{}", status: 500))
        let user = try await bed.client.link(.identityToken(.google, "t"))
        #expect(user.identities == [.password, .google] && bed.body(1)["link_identity"] == true)
        #expect(bed.bearer(2) == "Bearer \(Bed.accessToken("linked"))")
        #expect(await bed.client.currentUser?.identities == [.password, .google])
    }

    @Test func `A fresh proof takes the place of the session's tokens, another person's is given back`() async throws {
        let logout = ScriptedExchange.on(.post, Bed.address + "/logout?scope=local", .status(204))
        let bed = try await Bed.signedIn(
            Bed.on(.post, password, Bed.session("bob", user: Bed.user("bob"))), logout,
            Bed.on(.post, password, Bed.session("proved")), logout)
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.reauthenticate(with: .password(email: "bob@example.com", "x"))
        }
        #expect(code == .invalidCredential && bed.bearer(2) == "Bearer \(Bed.accessToken("bob"))")
        try await bed.client.reauthenticate(with: .password(email: "alice@example.com", "x"))
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken("proved"))
        #expect(bed.bearer(4) == "Bearer \(Bed.accessToken())", "the old session is given back")
    }

    @Test func `Another account's identity is not even sent as a proof`() async throws {
        let linked =
            #"{"id":"alice","identities":[{"provider":"google","id":"g-1"},{"provider":"apple","id":"g-2"}]}"#
        let logout = ScriptedExchange.on(.post, Bed.address + "/logout?scope=local", .status(204))
        let bed = try await Bed.signedIn(
            Bed.on(.get, "/user", linked), Bed.on(.get, "/user", linked), Bed.on(.get, "/user", linked),
            Bed.on(.post, "/token?grant_type=id_token", Bed.session("proved")), logout)
        func token(_ subject: String) -> Secret {
            let claims: JSON = ["sub": .string(subject)]
            return Secret("e30.\(Base64.encode(claims.bytes(), alphabet: .url)).c2ln")
        }
        for foreign in [token("g-2"), "no token"] {
            let code = await bed.code { () async throws(AuthError) in
                try await bed.client.reauthenticate(with: .identityToken(.google, foreign))
            }
            #expect(code == .invalidCredential)
        }
        try await bed.client.reauthenticate(with: .identityToken(.google, token("g-1")))
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken("proved"))
        try bed.transport.verify()
    }

    @Test(arguments: [("GET", 1), ("PUT", 2)])
    func `A confirmed second factor whose name cannot be stored does not cost the session`(
        _ failing: String, _ calls: Int
    ) async throws {
        let factors = #","factors":[{"id":"f1","factor_type":"totp","status":"verified"}]"#
        let bed = try await Bed.signedIn(
            Bed.on(.post, "/factors/f1/challenge", #"{"id":"c1","expires_at":1}"#),
            Bed.on(.post, "/factors/f1/verify", Bed.session("whole", user: Bed.user("alice", factors), aal: "aal2")))
        if failing == "PUT" { bed.transport.expect(Bed.on(.get, "/user", Bed.user("alice", factors))) }
        bed.transport.expect(Bed.on(failing == "GET" ? .get : .put, "/user", "{}", status: 500))
        bed.transport.expect(Bed.refreshed("next"))
        let enrollment = SecondFactorEnrollment(kind: .totp, sharedKey: "k", uri: "u", session: "f1")
        let error = await #expect(throws: AuthError.self) {
            try await bed.client.confirmSecondFactor(enrollment, code: "123456", displayName: "app")
        }
        #expect(error?.code == .unavailable && error?.message.hasPrefix("The second factor is confirmed") == true)
        #expect(await bed.client.currentUser?.secondFactors.map(\.id) == ["f1"])
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken("whole", aal: "aal2"))
        #expect(await refreshCode(bed) == nil)
        try bed.transport.verify()
        #expect(bed.body(3 + calls) == ["refresh_token": "refresh-whole"])
    }

    @Test func `An identity is taken away by the name of its row, not by the provider's`() async throws {
        let bed = try await Bed.signedIn(
            Bed.on(.get, "/user", Bed.user()),
            .on(.delete, Bed.address + "/user/identities/i1", .status(204)), Bed.on(.get, "/user", Bed.user()))
        try await bed.client.unlink(.password)
        try bed.transport.verify()
    }

    // MARK: Leaving

    @Test func `Leaving this device needs no one's consent`() async throws {
        let gone = ScriptedExchange.on(
            .post, Bed.address + "/logout?scope=local", .failure(TransportError(.hostNotFound, "x")))
        let bed = try await Bed.signedIn(gone)
        try await bed.client.signOut()
        #expect(await bed.client.state == .signedOut(SignOut(.byUser)))
        try bed.transport.verify()
    }

    @Test func `A session that the device cannot forget is ended on the server, and the caller notified`() async throws
    {
        let store = StuckSessionStore()
        let bed = Bed(
            Bed.on(.post, password, Bed.session()), .on(.post, Bed.address + "/logout?scope=local", .status(204)),
            store: store)
        try await bed.client.signIn(email: "alice@example.com", password: "secret")
        store.isStuck = true
        #expect(await bed.code { () async throws(AuthError) in try await bed.client.signOut() } == .localStore)
        #expect(await !bed.client.state.isSignedIn)
        try bed.transport.verify()
    }

    @Test func `Leaving everywhere needs the server, and what is over already is no error`() async throws {
        let path = "/logout?scope=global"
        let bed = try await Bed.signedIn(
            .on(.post, Bed.address + path, .failure(TransportError(.hostNotFound, "x"))),
            Bed.refusal(.post, path, "session_not_found", status: 403))
        let code = await bed.code { () async throws(AuthError) in try await bed.client.signOut(.everywhere) }
        #expect(code == .unavailable)
        #expect(await bed.client.state.isSignedIn)
        try await bed.client.signOut(.everywhere)
        #expect(await !bed.client.state.isSignedIn)
    }

    @Test(arguments: [SignOutScope.local, .everywhere])
    func `A token that has run out by the server's clock alone is replaced before leaving`(
        _ scope: SignOutScope
    ) async throws {
        let path = "/logout?scope=\(scope == .local ? "local" : "global")"
        let bed = try await Bed.signedIn(
            Bed.refusal(.post, path, "bad_jwt", status: 403), Bed.refreshed("second"),
            .on(.post, Bed.address + path, .status(204)))
        try await bed.client.signOut(scope)
        #expect(await !bed.client.state.isSignedIn)
        try bed.transport.verify()
        #expect(bed.transport.requests.last?.request.headers["Authorization"] == "Bearer \(Bed.accessToken("second"))")
    }

    @Test(arguments: [401, 403, 404])
    func `A gateway's page does not count as having left everywhere`(status: Int) async throws {
        let path = "/logout?scope=global"
        let bed = try await Bed.signedIn(Bed.on(.post, path, "<html>", status: status))
        let code = await bed.code { () async throws(AuthError) in try await bed.client.signOut(.everywhere) }
        #expect(code == .unavailable)
        #expect(await bed.client.state.isSignedIn)
        try bed.transport.verify()
    }

    @Test func `Others can be signed out without leaving`() async throws {
        let bed = try await Bed.signedIn(.on(.post, Bed.address + "/logout?scope=others", .status(204)))
        try await bed.client.signOut(.others)
        #expect(await bed.client.state.isSignedIn)
    }

    @Test func `An account is deleted by the project's own function, where there is one`() async throws {
        let without = try await Bed.signedIn()
        #expect(!without.client.capabilities.accountDeletion)
        let code = await without.code { () async throws(AuthError) in try await without.client.deleteAccount() }
        #expect(code == .unsupported)
        let bed = Bed(Bed.on(.post, password, Bed.session())) { token in
            guard token.userID == "alice" else { throw CancellationError() }
        }
        try await bed.client.signIn(email: "a@b.c", password: "x")
        try await bed.client.deleteAccount()
        #expect(await bed.client.state == .signedOut(SignOut(.accountDeleted, wipesLocalData: true)))
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Request by request: what is easily got wrong.
@Suite struct SupabaseAuthTests {
    private typealias Bed = SupabaseAuthBed
    private let password = "/token?grant_type=password"
    private let refreshPath = "/token?grant_type=refresh_token"

    private func refreshCode(_ bed: SupabaseAuthBed) async -> AuthError.Code? {
        await bed.code { () async throws(AuthError) in try await bed.client.accessToken(refreshing: true) }
    }

    // MARK: Signing in

    @Test func `Signing in sends the key apart, asks for the present shape of errors, and no bearer`() async throws {
        let bed = Bed(Bed.on(.post, password, Bed.session()))
        let user = try await bed.client.signIn(email: "alice@example.com", password: "pä ss")
        #expect(user.id == "alice" && user.identities == [.password] && user.isEmailVerified && user.phoneNumber == nil)
        #expect(user.createdAt == Date(timeIntervalSince1970: 1_767_225_600))
        let request = bed.transport.requests[0].request
        #expect(request.headers["apikey"] == "sb_publishable_key" && request.headers["Authorization"] == nil)
        #expect(request.headers["X-Supabase-Api-Version"] == "2024-01-01" && request.redirects == .surface)
        #expect(bed.body(0)["password"]?.string == "pä ss")
        let token = try await bed.client.accessToken()
        #expect(token.expiresAt.seconds == 1_800_003_600, "by this device's clock, whatever the server's shows")
    }

    @Test func `Signing up signs in, asks for a confirmation, or gives away that the address is taken`() async throws {
        let fabricated =
            #"{"id":"made-up","email":"a@b.c","identities":[],"confirmation_sent_at":"2026-01-01T00:00:00Z"}"#
        let bed = Bed(
            Bed.on(.post, "/signup", Bed.user()), Bed.on(.post, "/signup", fabricated),
            Bed.refusal(.post, "/signup", "user_already_exists", status: 422), Bed.on(.post, "/signup", Bed.session()))
        for code in [AuthError.Code.emailNotConfirmed, .emailInUse, .emailInUse, nil] {
            let found = await bed.code { () async throws(AuthError) in
                try await bed.client.signUp(email: "a@b.c", password: "x")
            }
            #expect(found == code)
            #expect(await bed.client.state.isSignedIn == (code == nil))
        }
    }

    @Test func `Somebody anonymous is made by an empty object, and stays who they are`() async throws {
        let anonymous = #"{"id":"nobody","email":"","is_anonymous":true,"identities":[]}"#
        let bed = Bed(Bed.on(.post, "/signup", Bed.session(user: anonymous)))
        let user = try await bed.client.signInAnonymously()
        #expect(user.isAnonymous && user.email == nil && bed.transport.requests[0].text == #"{"data":{}}"#)
        #expect(try await bed.client.signInAnonymously() == user)
        try bed.transport.verify()
    }

    @Test func `An identity token goes with its raw nonce, under the service's name of the provider`() async throws {
        let path = "/token?grant_type=id_token"
        let bed = Bed(
            Bed.on(.post, path, #"{"error":"invalid request","error_description":"invalid nonce"}"#, status: 400),
            Bed.on(.post, path, Bed.session()))
        let credential = AuthCredential.identityToken(.apple, "t", rawNonce: "raw")
        let code = await bed.code { () async throws(AuthError) in try await bed.client.signIn(with: credential) }
        #expect(code == .invalidCredential, "this shape has no codes")
        try await bed.client.signIn(with: credential)
        #expect(bed.body(1) == ["provider": "apple", "id_token": "t", "nonce": "raw"])
    }

    @Test func `A browser sign-in is proved by its key`() async throws {
        let bed = Bed(
            Bed.refusal(.post, "/token?grant_type=pkce", "bad_code_verifier"),
            Bed.on(.post, "/token?grant_type=pkce", Bed.session()))
        let back = try #require(URL(string: "myapp://back"))
        let signIn = try await bed.client.beginBrowserSignIn(with: .google, redirectURL: back, scopes: ["a", "b"])
        let query = try #require(signIn.url.absoluteString.split(separator: "?").last.flatMap { FormCoding.decode($0) })
        let items = Dictionary(query.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        #expect(items["provider"] == "google" && items["redirect_to"] == "myapp://back" && items["scopes"] == "a b")
        #expect(
            items["code_challenge"] == Base64.encode(SHA256.digest(of: Array(signIn.verifier.utf8)), alphabet: .url))
        for (callback, code) in [
            ("myapp://other?code=1", AuthError.Code.invalidArgument), ("myapp://back", .invalidCredential),
            ("myapp://back?error=access_denied&error_code=x", .invalidCredential),
            ("myapp://back#error=access_denied&error_code=otp_expired", .codeExpired),
            ("myapp://back?code=1", .invalidCredential),
        ] {
            let url = try #require(URL(string: callback))
            let found = await bed.code { () async throws(AuthError) in
                try await bed.client.signIn(with: .browser(signIn, callback: url))
            }
            #expect(found == code, "\(callback)")
        }
        let url = try #require(URL(string: "myapp://back?code=8f2c"))
        try await bed.client.signIn(with: .browser(signIn, callback: url))
        #expect(bed.body(1) == ["auth_code": "8f2c", "code_verifier": .string(signIn.verifier)])
    }

    @Test func `A link signs in as it stands in the mail, and as the address to which it leads`() async throws {
        let token = Bed.accessToken()
        let bed = Bed(
            Bed.on(.post, "/verify", Bed.session()), Bed.on(.get, "/user", Bed.user()),
            Bed.on(.get, "/user", Bed.user()),
            Bed.on(.post, "/verify", #"{"msg":"Confirmation link accepted. Please proceed","code":"200"}"#))
        let mail = try #require(
            URL(string: "https://demo.supabase.co/auth/v1/verify?token=hash&type=magiclink&redirect_to=x"))
        try await bed.client.signIn(with: .emailLink(email: "alice@example.com", mail))
        #expect(bed.body(0) == ["type": "email", "token_hash": "hash"])
        let landed = try #require(
            URL(string: "myapp://back#access_token=\(token)&expires_in=3600&refresh_token=r&token_type=bearer"))
        try await bed.client.signIn(with: .emailLink(email: "Alice@Example.com", landed))
        #expect(bed.bearer(1) == "Bearer \(token)")
        let other = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .emailLink(email: "bob@example.com", landed))
        }
        #expect(other == .invalidCredential)
        let half = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .emailLink(email: "alice@example.com", mail))
        }
        #expect(half == .emailNotConfirmed, "a 200 that is no session")
    }

    @Test func `Half a session is a challenge, and its answer the whole`() async throws {
        let factors =
            #","factors":[{"id":"f1","factor_type":"totp","status":"verified","friendly_name":"app"},{"id":"f2","factor_type":"totp","status":"unverified"}]"#
        let user = Bed.user("alice", factors)
        let bed = Bed(
            Bed.on(.post, password, Bed.session("half", user: user)),
            Bed.on(.post, "/factors/f1/challenge", #"{"id":"c1","expires_at":1}"#),
            Bed.on(.post, "/factors/f1/verify", Bed.session("whole", user: user, aal: "aal2")))
        var asked: SecondFactorChallenge?
        do throws(AuthError) { try await bed.client.signIn(email: "a@b.c", password: "x") } catch {
            asked = error.challenge
        }
        let challenge = try #require(asked)
        #expect(challenge.factors == [SecondFactor(id: "f1", kind: .totp, displayName: "app")])
        #expect(await bed.client.currentUser == nil)
        try await bed.client.answer(challenge, with: SecondFactorAnswer(factor: "f1", code: "123456"))
        #expect(bed.body(2) == ["challenge_id": "c1", "code": "123456"])
        #expect(bed.bearer(2) == "Bearer \(Bed.accessToken("half"))")
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken("whole", aal: "aal2"))
    }

    @Test func `A lost password is replaced with what the mail holds, and the session for it is given back`()
        async throws
    {
        func script() -> [ScriptedExchange] {
            [
                Bed.on(.post, "/verify", Bed.session()), Bed.on(.put, "/user", Bed.user()),
                .on(.post, Bed.address + "/logout?scope=local", .status(204)),
            ]
        }
        let bed = Bed(Bed.on(.post, "/recover"))
        let early = await bed.code { () async throws(AuthError) in
            try await bed.client.resetPassword(code: "123456", newPassword: "x")
        }
        #expect(early == .invalidCredential, "digits mean nothing without the address")
        try await bed.client.sendPasswordReset(to: "alice@example.com")
        for exchange in script() + script() { bed.transport.expect(exchange) }
        try await bed.client.resetPassword(code: "123456", newPassword: "new")
        #expect(bed.body(1) == ["type": "recovery", "email": "alice@example.com", "token": "123456"])
        #expect(bed.body(2) == ["password": "new"] && bed.bearer(2) == "Bearer \(Bed.accessToken())")
        try await bed.client.resetPassword(code: "pkce_hash", newPassword: "new")
        #expect(bed.body(4) == ["type": "recovery", "token_hash": "pkce_hash"])
        #expect(await bed.client.currentUser == nil)
        try bed.transport.verify()
    }

    @Test func `A code by telephone signs in`() async throws {
        let user = Bed.user("alice", "").replacing(#""phone":"""#, with: #""phone":"4790000000""#)
        let bed = Bed(Bed.on(.post, "/otp"), Bed.on(.post, "/verify", Bed.session(user: user)))
        let sent = try await bed.client.sendPhoneCode(to: "+4790000000")
        let signedIn = try await bed.client.signIn(with: .phoneCode(sent, "123456"))
        #expect(bed.body(1) == ["type": "sms", "phone": "+4790000000", "token": "123456"])
        #expect(signedIn.phoneNumber == "+4790000000", "the server leaves out the plus sign")
    }

    @Test func `A weak password that still signs in is no error, and a lifetime may be in the token only`() async throws
    {
        let session = #"{"access_token":"\#(Bed.accessToken())","refresh_token":"r","user":\#(Bed.user())"#
        let bed = Bed(
            Bed.on(.post, password, session + #","weak_password":{"message":"x","reasons":["length"]}}"#))
        try await bed.client.signIn(email: "a@b.c", password: "x")
        #expect(try await bed.client.accessToken().expiresAt.seconds == 1_800_003_600)
    }

    @Test func `An address to come back to is coded whole`() async throws {
        let bed = Bed(Bed.on(.post, "/otp?redirect_to=myapp%3A%2F%2Fback%3Fa%3D1%26b%3D2"))
        let back = try #require(URL(string: "myapp://back?a=1&b=2"))
        try await bed.client.sendEmailLink(to: "a@b.c", redirectURL: back)
        #expect(bed.body(0) == ["email": "a@b.c", "create_user": true])
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
        ("<html>", 502), ("{}", 200), (#"{"code":"over_request_rate_limit","message":""}"#, 429), ("{}", 504),
        ("", 400),
    ])
    func `No failure signs anybody out`(answer: String, status: Int) async throws {
        let bed = try await Bed.signedIn(Bed.on(.post, refreshPath, answer, status: status))
        #expect([.unavailable, .rateLimited].contains(await refreshCode(bed)))
        #expect(await bed.client.state.isSignedIn)
        #expect(try await bed.client.accessToken().value.reveal() == Bed.accessToken())
    }

    @Test func `What a refresh brings after a sign-out, or for somebody who was replaced, is dropped`() async throws {
        for isReplaced in [false, true] {
            let gate = ScriptedGate()
            let late = ScriptedExchange.on(
                .post, Bed.address + refreshPath, ScriptedReply.json(Bed.session("late")).delayed(until: gate))
            let bed = try await Bed.signedIn(late)
            let refresh = Task { await refreshCode(bed) }
            try await eventually("the server is asked") { gate.waitingCount == 1 }
            if isReplaced {
                bed.transport.expect(Bed.on(.post, password, Bed.session("bob", user: Bed.user("bob"))))
                try await bed.client.signIn(email: "bob@example.com", password: "x")
            } else {
                bed.transport.expect(.on(.post, Bed.address + "/logout?scope=local", .status(204)))
                try await bed.client.signOut()
            }
            #expect(await refresh.value == .sessionChanged, "who waits is told at once")
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

    @Test func `An identity is taken away by the name of its row, not by the provider's`() async throws {
        let bed = try await Bed.signedIn(
            Bed.on(.get, "/user", Bed.user()),
            .on(.delete, Bed.address + "/user/identities/i1", .status(204)), Bed.on(.get, "/user", Bed.user()))
        try await bed.client.unlink(.password)
        try bed.transport.verify()
    }

    // MARK: Leaving

    @Test func `Leaving this device needs nobody's consent`() async throws {
        let gone = ScriptedExchange.on(
            .post, Bed.address + "/logout?scope=local", .failure(TransportError(.hostNotFound, "x")))
        let bed = try await Bed.signedIn(gone)
        try await bed.client.signOut()
        #expect(await bed.client.state == .signedOut(SignOut(.byUser)))
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

    @Test func `Nothing secret goes to another machine in clear text`() async throws {
        let bed = Bed(address: "http://demo.example.com/auth/v1")
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(email: "a@b.c", password: "x")
        }
        #expect(code == .invalidArgument && bed.transport.requests.isEmpty)
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Signing in, request by request: what is easily got wrong.
@Suite struct SupabaseAuthTests {
    private typealias Bed = SupabaseAuthBed
    private let password = "/token?grant_type=password"

    @Test func `Signing in sends the key apart, asks for the current format of errors, and no bearer`() async throws {
        let bed = Bed(Bed.on(.post, password, Bed.session()))
        let user = try await bed.client.signIn(email: "alice@example.com", password: "pä ss")
        #expect(user.id == "alice" && user.identities == [.password] && user.isEmailVerified && user.phoneNumber == nil)
        #expect(user.createdAt == Date(timeIntervalSince1970: 1_767_225_600))
        let request = bed.transport.requests[0].request
        #expect(request.headers["X-Client-Info"]?.hasPrefix("switchyard-swift/") == true)
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
        #expect(try await bed.client.signUp(email: "a@b.c", password: "x") == .confirmationSent(to: "a@b.c"))
        #expect(await !bed.client.state.isSignedIn)
        for code in [AuthError.Code.emailInUse, .emailInUse, nil] {
            let found = await bed.code { () async throws(AuthError) in
                try await bed.client.signUp(email: "a@b.c", password: "x").get()
            }
            #expect(found == code)
            #expect(await bed.client.state.isSignedIn == (code == nil))
        }
    }

    @Test func `A confirmation is asked for again by the address, and a new address is confirmed by its own link`()
        async throws
    {
        let bed = Bed(Bed.on(.post, "/resend", "{}"), Bed.on(.post, "/verify", Bed.session()))
        try await bed.client.resendConfirmation(to: "a@b.c")
        #expect(bed.body(0) == ["type": "signup", "email": "a@b.c"])
        let mail = try #require(
            URL(string: "https://demo.supabase.co/auth/v1/verify?token=hash&type=email_change&redirect_to=x"))
        try await bed.client.signIn(with: .emailLink(email: "alice@example.com", mail))
        #expect(bed.body(1) == ["type": "email_change", "token_hash": "hash"])
        let half = try #require(URL(string: "myapp://back#message=Confirmation+link+accepted&sb="))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .emailLink(email: "alice@example.com", half))
        }
        #expect(code == .emailNotConfirmed)
    }

    @Test func `Somebody anonymous is made by an empty object, and stays who they are`() async throws {
        let anonymous = #"{"id":"anonymous","email":"","is_anonymous":true,"identities":[]}"#
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

    @Test(arguments: ["https://demo.supabase.co/auth/v1/verify?token=h&type=magiclink", "myapp://back?token_hash=h"])
    func `The link of somebody else signs no one in, and its session is given back`(link: String) async throws {
        // Mallory has a link sent to herself, and passes it on to Alice, whose app knows only her own address.
        let mallory = Bed.session("mallory", user: Bed.user("mallory"))
        let logout = ScriptedExchange.on(.post, Bed.address + "/logout?scope=local", .status(204))
        let bed = Bed(Bed.on(.post, "/verify", mallory), logout)
        let url = try #require(URL(string: link))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .emailLink(email: "alice@example.com", url))
        }
        #expect(code == .invalidCredential)
        #expect(await bed.client.currentUser == nil)
        try bed.transport.verify()
        #expect(bed.bearer(1) == "Bearer \(Bed.accessToken("mallory"))")

        let alice = try await Bed.signedIn(Bed.on(.post, "/verify", mallory), logout)
        let again = await alice.code { () async throws(AuthError) in
            try await alice.client.signIn(with: .emailLink(email: "alice@example.com", url))
        }
        #expect(again == .invalidCredential)
        #expect(await alice.client.currentUser?.id == "alice")
        #expect(try await alice.client.accessToken().value.reveal() == Bed.accessToken())
    }

    @Test func `A link that confirms a new address may have been sent to the old one`() async throws {
        let renamed = Bed.user().replacing("alice@example.com", with: "new@example.com")
        let bed = try await Bed.signedIn(Bed.on(.post, "/verify", Bed.session("renamed", user: renamed)))
        let url = try #require(URL(string: "https://demo.supabase.co/auth/v1/verify?token=h&type=email_change"))
        let user = try await bed.client.signIn(with: .emailLink(email: "alice@example.com", url))
        #expect(user.email == "new@example.com")
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

    @Test func `The session of a lost password is given back also if the call is cancelled on the way`() async throws {
        let place = Mutex<Task<Void, any Error>?>(nil)
        let sent = Mutex<[String]>([])
        let transport = AnsweringTransport { request throws(TransportError) in
            // Like any real transport, it sends nothing for a task that has been cancelled.
            if Task.isCancelled { throw TransportError(.cancelled, "the call was cancelled") }
            sent.withLock { $0.append(String(request.url.dropFirst(Bed.address.count))) }
            if request.url.hasSuffix("/verify") { return .text(Bed.session()) }
            guard request.url.hasSuffix("/user") else { return .text("", status: 204) }
            place.withLock { $0 }?.cancel()
            throw TransportError(.cancelled, "the call was cancelled")
        }
        let client = SupabaseAuthAdapter(
            address: Bed.address, apiKey: "sb_publishable_key", transport: transport, store: MemorySessionStore(),
            context: ModuleContext(), deletion: nil)
        let started = Gate()
        let task = Task<Void, any Error> {
            await started.wait()
            try await client.resetPassword(code: "pkce_hash", newPassword: "new")
        }
        place.withLock { $0 = task }
        started.open()
        await #expect(throws: AuthError.self) { try await task.value }
        #expect(sent.withLock { $0 } == ["/verify", "/user", "/logout?scope=local"])
    }

    @Test func `A code by phone signs in`() async throws {
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

    @Test func `Nothing secret goes to another machine in clear text`() async throws {
        let bed = Bed(address: "http://demo.example.com/auth/v1")
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(email: "a@b.c", password: "x")
        }
        #expect(code == .invalidArgument && bed.transport.requests.isEmpty)
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Signing in, request by request: what is easily got wrong.
@Suite struct FirebaseSignInTests {
    private let signUp = "/v1/accounts:signUp"
    private let password = "/v1/accounts:signInWithPassword"
    private let idp = "/v1/accounts:signInWithIdp"

    @Test func `Signing up sends the key apart from the address, no bearer, and looks the account up`() async throws {
        let bed = try AuthBed(AuthBed.call(signUp, "{\(AuthBed.tokens())}"), AuthBed.lookup())
        let user = try await bed.client.signUp(email: "alice@example.com", password: "pä ss\"w'o\\rd").get()
        #expect(user.id == "alice" && user.identities == [.password] && !user.isAnonymous)
        #expect(user.createdAt == Date(timeIntervalSince1970: 1_700_000_000))
        for recorded in bed.transport.requests {
            #expect(recorded.request.headers["x-goog-api-key"] == "the-key")
            #expect(!recorded.request.url.contains("the-key") && recorded.request.headers["Authorization"] == nil)
            #expect(recorded.request.redirects == .surface, "no secret follows a redirect")
        }
        #expect(bed.body(0)["password"]?.string == "pä ss\"w'o\\rd")
        #expect(bed.body(0)["returnSecureToken"]?.bool == true)
        #expect(bed.body(1)["idToken"]?.string == AuthBed.idToken())
        try bed.transport.verify()
    }

    @Test func `An anonymous sign-up has no address at all, and somebody anonymous stays who they are`() async throws {
        let bed = try AuthBed(
            AuthBed.call(signUp, "{\(AuthBed.tokens(provider: "anonymous"))}"),
            AuthBed.call("/v1/accounts:lookup", #"{"users":[{"localId":"alice"}]}"#))
        let user = try await bed.client.signInAnonymously()
        #expect(user.isAnonymous && user.email == nil)
        #expect(bed.bodies[0] == #"{"returnSecureToken":true}"#)
        #expect(try await bed.client.signInAnonymously() == user)
        try bed.transport.verify()
    }

    @Test func `A custom token leaves the name to the token`() async throws {
        let bed = try AuthBed(
            AuthBed.call(
                "/v1/accounts:signInWithCustomToken", "{\(AuthBed.tokens(user: "carol", provider: "custom"))}"),
            AuthBed.call("/v1/accounts:lookup", #"{"users":[{"localId":"carol","customAuth":true}]}"#))
        let user = try await bed.client.signIn(with: .customToken("signed"))
        #expect(user.id == "carol" && !user.isAnonymous, "without providers, but not anonymous")
    }

    @Test func `What an identity provider gave is encoded within its form`() async throws {
        let bed = try AuthBed(AuthBed.call(idp, "{\(AuthBed.tokens(provider: "apple.com"))}"), AuthBed.lookup())
        try await bed.client.signIn(
            with: .identityToken(.apple, "a+b/c=&d é", accessToken: "x&y", rawNonce: "n+1"))
        #expect(
            bed.body(0)["postBody"]?.string
                == "id_token=a%2Bb%2Fc%3D%26d%20%C3%A9&access_token=x%26y&providerId=apple.com&nonce=n%2B1")
        #expect(bed.body(0)["requestUri"]?.string == "http://localhost" && bed.body(0)["autoCreate"] == nil)
    }

    @Test(arguments: ["facebook.com", "github.com"])
    func `Those who hand out no identity tokens are asked by access token`(provider: String) async throws {
        let bed = try AuthBed(AuthBed.call(idp, "{\(AuthBed.tokens(provider: provider))}"), AuthBed.lookup())
        try await bed.client.signIn(with: .identityToken(IdentityProvider(rawValue: provider), "t"))
        #expect(bed.body(0)["postBody"]?.string == "access_token=t&providerId=\(provider)")
    }

    @Test func `A token in two halves goes with its secret, and not without`() async throws {
        let bed = try AuthBed(AuthBed.call(idp, "{\(AuthBed.tokens(provider: "twitter.com"))}"), AuthBed.lookup())
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .identityToken("twitter.com", "t"))
        }
        #expect(code == .invalidArgument && bed.transport.requests.isEmpty)
        try await bed.client.signIn(with: .twitter(token: "1-t+", secret: "s&"))
        #expect(
            bed.body(0)["postBody"]?.string == "access_token=1-t%2B&oauth_token_secret=s%26&providerId=twitter.com")
    }

    // MARK: 200 is no success

    @Test(arguments: [
        (
            #"{"needConfirmation":true,"verifiedProvider":["password"],"email":"alice@example.com"}"#,
            AuthError.Code.emailInUse
        ),
        (#"{"errorMessage":"FEDERATED_USER_ID_ALREADY_LINKED","pendingToken":"p"}"#, .identityInUse),
        (#"{"errorMessage":"EMAIL_EXISTS : whatever"}"#, .emailInUse),
        (#"{"temporaryProof":"x","phoneNumber":"+1"}"#, .identityInUse),
        (#"{"localId":"alice"}"#, .unavailable),
        (#"{"idToken":"no token","refreshToken":"r","expiresIn":"3600"}"#, .unavailable),
        (#"{"idToken":"a.b.c","expiresIn":"3600"}"#, .unavailable),
        ("[]", .unavailable),
        ("", .unavailable),
    ])
    func `A 200 that is no success signs no one in`(answer: String, code: AuthError.Code) async throws {
        let bed = try AuthBed(AuthBed.call(idp, answer))
        let found = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .identityToken(.google, "t"))
        }
        #expect(found == code)
        #expect(await bed.client.state == .signedOut(SignOut(.never)))
    }

    @Test func `A second factor is a challenge, and its answer a sign-in without a stated lifetime`() async throws {
        let info =
            #"[{"mfaEnrollmentId":"f1","displayName":"app","totpInfo":{}},{"mfaEnrollmentId":"f2","phoneInfo":"+*******99"}]"#
        let bed = try AuthBed(
            AuthBed.call(password, #"{"localId":"alice","mfaPendingCredential":"half","mfaInfo":\#(info)}"#),
            AuthBed.call(
                "/v2/accounts/mfaSignIn:finalize", #"{"idToken":"\#(AuthBed.idToken())","refreshToken":"r"}"#),
            AuthBed.lookup())
        var challenge: SecondFactorChallenge?
        do throws(AuthError) {
            try await bed.client.signIn(email: "alice@example.com", password: "secret")
        } catch {
            #expect(error.code == .secondFactorRequired)
            challenge = error.challenge
        }
        let asked = try #require(challenge)
        #expect(asked.factors.map(\.kind) == [.totp, .phone] && asked.factors[0].displayName == "app")
        #expect(await bed.client.currentUser == nil)
        let phone = await bed.code { () async throws(AuthError) in
            try await bed.client.answer(asked, with: SecondFactorAnswer(factor: "f2", code: "123456"))
        }
        #expect(phone == .unsupported, "no code was sent to the phone")
        try await bed.client.answer(asked, with: SecondFactorAnswer(factor: "f1", code: "123456"))
        #expect(bed.body(1)["mfaPendingCredential"]?.string == "half" && bed.body(1)["mfaEnrollmentId"]?.string == "f1")
        #expect(bed.body(1)["totpVerificationInfo"]?["verificationCode"]?.string == "123456")
        let token = try await bed.client.accessToken()
        #expect(token.expiresAt.seconds == 1_800_001_800, "as long as the token itself says")
        try bed.transport.verify()
    }

    @Test func `A code sent to a phone with proof of the app answers a challenge`() async throws {
        let bed = try AuthBed(
            AuthBed.call("/v2/accounts/mfaSignIn:start", #"{"phoneResponseInfo":{"sessionInfo":"sent"}}"#),
            AuthBed.call(
                "/v2/accounts/mfaSignIn:finalize", #"{"idToken":"\#(AuthBed.idToken())","refreshToken":"r"}"#),
            AuthBed.lookup())
        let challenge = SecondFactorChallenge(factors: [SecondFactor(id: "f2", kind: .phone)], session: "half")
        try await bed.client.sendSecondFactorCode(for: challenge, factor: "f2", proof: .recaptcha("captcha"))
        #expect(bed.body(0)["phoneSignInInfo"]?["recaptchaToken"]?.string == "captcha")
        try await bed.client.answer(challenge, with: SecondFactorAnswer(factor: "f2", code: "1"))
        #expect(bed.body(1)["phoneVerificationInfo"]?["sessionInfo"]?.string == "sent")
    }

    // MARK: Links and browsers

    @Test(arguments: [
        ("https://demo.web.app/a?apiKey=k&mode=signIn&oobCode=c%2B1&lang=en", "c+1"),
        ("https://x.page.link/?link=https%3A%2F%2Fd.app%2F%3FapiKey%3Dk%26mode%3DsignIn%26oobCode%3Dc", "c"),
        (
            "app://x?deep_link_id=https%3A%2F%2Fp%2F%3Flink%3Dhttps%253A%252F%252Fd%252F%253FapiKey%253Dk%2526mode%253DsignIn%2526oobCode%253Dc",
            "c"
        ),
    ])
    func `A link signs in, wrapped or not`(link: String, code: String) async throws {
        let bed = try AuthBed(
            AuthBed.call("/v1/accounts:signInWithEmailLink", "{\(AuthBed.tokens())}"), AuthBed.lookup())
        try await bed.client.signIn(with: .emailLink(email: "a@b.c", try #require(URL(string: link))))
        #expect(bed.body(0)["oobCode"]?.string == code && bed.body(0)["email"]?.string == "a@b.c")
    }

    @Test(arguments: [
        "https://d/", "https://d/?mode=signIn&oobCode=c", "https://d/?apiKey=k&mode=resetPassword&oobCode=c",
        "https://d/?apiKey=k&mode=nonsense&oobCode=c", "https://d/?link=%zz",
    ])
    func `What is no link for signing in is not even sent`(link: String) async throws {
        let bed = try AuthBed()
        let url = try #require(URL(string: link))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .emailLink(email: "a@b.c", url))
        }
        #expect(code == .invalidCredential && bed.transport.requests.isEmpty)
    }

    @Test func `A link that was sent to another address is a wrong proof, not a wrong address`() async throws {
        let path = "/v1/accounts:signInWithEmailLink"
        let bed = try AuthBed(
            AuthBed.refusal(path, "INVALID_EMAIL : The email provided does not match the sign-in email address."))
        let url = try #require(URL(string: "https://d/?apiKey=k&mode=signIn&oobCode=c"))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(with: .emailLink(email: "a@b.c", url))
        }
        #expect(code == .invalidCredential)
    }

    @Test func `A browser sign-in is bound to its key, and only its own answer is sent`() async throws {
        let uri = "https://accounts.example/auth?state=S&client_id=x"
        let bed = try AuthBed(
            AuthBed.call(
                "/v1/accounts:createAuthUri", #"{"authUri":"\#(uri)","sessionId":"session","providerId":"google.com"}"#),
            AuthBed.call(idp, "{\(AuthBed.tokens(provider: "google.com"))}"), AuthBed.lookup())
        let back = try #require(URL(string: "https://app.example.com/back"))
        let signIn = try await bed.client.beginBrowserSignIn(
            with: .google, redirectURL: back, scopes: ["email", "profile"])
        #expect(signIn.url.absoluteString == uri && signIn.state == "S" && signIn.session == "session")
        #expect(
            bed.body(0)["oauthScope"]?.string == "email profile" && bed.body(0)["authFlowType"]?.string == "CODE_FLOW")
        #expect(bed.body(0)["sessionId"]?.string == signIn.verifier && signIn.verifier.count == 64)
        for (callback, code) in [
            ("https://app.example.com/other?code=1&state=S", AuthError.Code.invalidArgument),
            ("https://app.example.com/back?code=1&state=T", .invalidCredential),
            ("https://app.example.com/back?code=1", .invalidCredential),
            ("https://app.example.com/back?code=1&state=", .invalidCredential),
            ("https://app.example.com/back?code=1&state=S#state=T", .invalidCredential),
            ("https://app.example.com/back?error=access_denied&state=S", .invalidCredential),
            ("https://app.example.com/back#error=access_denied", .invalidCredential),
        ] {
            let url = try #require(URL(string: callback))
            let found = await bed.code { () async throws(AuthError) in
                try await bed.client.signIn(with: .browser(signIn, callback: url))
            }
            #expect(found == code, "\(callback)")
        }
        #expect(bed.transport.requests.count == 1)
        let callback = try #require(URL(string: "https://app.example.com/back?code=4%2F1&state=S"))
        try await bed.client.signIn(with: .browser(signIn, callback: callback))
        #expect(
            bed.body(1)["requestUri"]?.string == callback.absoluteString
                && bed.body(1)["sessionId"]?.string == "session")
        let custom = try #require(URL(string: "myapp://back"))
        let refused = await bed.code { () async throws(AuthError) in
            _ = try await bed.client.beginBrowserSignIn(with: .google, redirectURL: custom, scopes: [])
        }
        #expect(refused == .invalidArgument)
    }

    @Test func `A page without a state needs none in its answer`() async throws {
        let bed = try AuthBed(
            AuthBed.call("/v1/accounts:createAuthUri", #"{"authUri":"https://a.example/auth?client_id=x#state=S"}"#),
            AuthBed.call(idp, "{\(AuthBed.tokens(provider: "google.com"))}"), AuthBed.lookup())
        let back = try #require(URL(string: "https://app.example.com/back"))
        let signIn = try await bed.client.beginBrowserSignIn(with: .google, redirectURL: back, scopes: [])
        let callback = try #require(URL(string: "https://app.example.com/back?code=1"))
        try await bed.client.signIn(with: .browser(signIn, callback: callback))
    }

    // MARK: Around it

    @Test func `A network that fails after the sign-in costs nothing but details`() async throws {
        let lost = TransportError(.connectionLost, "the connection broke", mayHaveBeenSent: true)
        let bed = try AuthBed(
            AuthBed.call(password, "{\(AuthBed.tokens())}"),
            .on(.post, AuthBed.toolkit + "/v1/accounts:lookup", .failure(lost)))
        let user = try await bed.client.signIn(email: "alice@example.com", password: "secret")
        #expect(user.id == "alice" && user.email == "alice@example.com" && user.identities == [.password])
        #expect(await bed.client.currentUser == user)
    }

    @Test func `An account that turns out to be disabled is not signed in`() async throws {
        let bed = try AuthBed(
            AuthBed.call(password, "{\(AuthBed.tokens())}"), AuthBed.refusal("/v1/accounts:lookup", "USER_DISABLED"))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(email: "a@b.c", password: "x")
        }
        #expect(code == .userDisabled)
        #expect(await bed.client.currentUser == nil)
    }

    @Test func `Signing out takes back a sign-in under way`() async throws {
        let gate = Gate()
        let bed = try AuthBed(
            .on(.post, AuthBed.toolkit + password, ScriptedReply.json("{\(AuthBed.tokens())}").delayed(until: gate)),
            AuthBed.lookup())
        let signIn = Task {
            await bed.code { () async throws(AuthError) in try await bed.client.signIn(email: "a@b.c", password: "x") }
        }
        try await eventually("the server is asked") { gate.waiting == 1 }
        try await bed.client.signOut()
        gate.open()
        #expect(await signIn.value == .sessionChanged)
        #expect(await bed.client.currentUser == nil)
    }

    @Test func `A server that does not answer ends the call by its deadline`() async throws {
        let clock = ManualClock()
        let bed = try AuthBed(.on(.post, AuthBed.toolkit + password, .hang), clock: clock)
        let signIn = Task {
            await bed.code { () async throws(AuthError) in try await bed.client.signIn(email: "a@b.c", password: "x") }
        }
        try await eventually("the call is under way") { clock.sleeperCount == 1 && bed.transport.requests.count == 1 }
        clock.advance(by: .seconds(31))
        #expect(await signIn.value == .deadlineExceeded)
    }

    @Test func `Nothing secret goes to another machine in clear text`() async throws {
        let bed = try AuthBed(emulators: .init(auth: "auth.example.com:9099"))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(email: "a@b.c", password: "x")
        }
        #expect(code == .invalidArgument && bed.transport.requests.isEmpty)
    }

    @Test func `An emulator has the real host in its paths`() async throws {
        let bed = try AuthBed(
            .on(
                .post, "http://127.0.0.1:9099/identitytoolkit.googleapis.com\(password)", .json("{\(AuthBed.tokens())}")
            ),
            .on(.post, "http://127.0.0.1:9099/identitytoolkit.googleapis.com/v1/accounts:lookup", .json("{}")),
            .on(.post, "http://127.0.0.1:9099/securetoken.googleapis.com/v1/token", .json("{}", status: 500)),
            emulators: .init(auth: "127.0.0.1:9099"))
        try await bed.client.signIn(email: "a@b.c", password: "x")
        let code = await bed.code { () async throws(AuthError) in _ = try await bed.client.accessToken(refreshing: true)
        }
        #expect(code == .unavailable)
        try bed.transport.verify()
    }

    @Test func `No one learns from a reset whether an address has an account`() async throws {
        let bed = try AuthBed(AuthBed.refusal("/v1/accounts:sendOobCode", "EMAIL_NOT_FOUND"))
        try await bed.client.sendPasswordReset(to: "unknown@example.com")
        try bed.transport.verify()
    }

    @Test func `Codes by phone are refused with the reason, unless the app brings proof`() async throws {
        let bed = try AuthBed(AuthBed.call("/v1/accounts:sendVerificationCode", #"{"sessionInfo":"s"}"#))
        #expect(!bed.client.capabilities.phoneCodes && !bed.client.capabilities.signOutElsewhere)
        do throws(AuthError) {
            _ = try await bed.client.sendPhoneCode(to: "+15005550006")
            #expect(Bool(false), "it was sent")
        } catch {
            #expect(error.code == .unsupported && error.message.contains("attestation"))
        }
        let sent = try await bed.client.sendPhoneCode(to: "+15005550006", proof: .recaptcha("captcha"))
        #expect(sent == PhoneVerification(phoneNumber: "+15005550006", id: "s"))
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// What becomes of a session: refreshes, and calls for somebody who is signed in.
@Suite struct FirebaseSessionTests {
    private let update = "/v1/accounts:update"

    private func refreshCode(_ bed: AuthBed) async -> AuthError.Code? {
        await bed.code { () async throws(AuthError) in _ = try await bed.client.accessToken(refreshing: true) }
    }

    // MARK: Refreshing

    @Test func `A refresh sends a form, reads another spelling, and keeps the token that came back`() async throws {
        let bed = try await AuthBed.signedIn(AuthBed.refreshed("second"), AuthBed.refreshed("third"))
        bed.now += 3590
        let token = try await bed.client.accessToken()
        #expect(token.value.reveal() == AuthBed.idToken(name: "second"))
        #expect(token.expiresAt.seconds == 1_800_000_000 + 3590 + 3600, "by this device's clock")
        let request = bed.transport.requests[2].request
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(bed.bodies[2] == "grant_type=refresh_token&refresh_token=refresh-first")
        bed.now += 3600
        _ = try await bed.client.accessToken()
        #expect(bed.bodies[3] == "grant_type=refresh_token&refresh_token=refresh-second")
        try bed.transport.verify()
    }

    @Test func `Ten who ask when the token has run out cost one refresh`() async throws {
        let bed = try await AuthBed.signedIn(AuthBed.refreshed("second"))
        bed.now += 4000
        let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<10 { group.addTask { try await bed.client.accessToken() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        try bed.transport.verify()
    }

    @Test(arguments: [
        ("<html>", 500, AuthError.Code.unavailable), ("{}", 200, .unavailable),
        (#"{"error":{"message":"QUOTA"}}"#, 429, .rateLimited),
        (#"{"error":{"message":"INTERNAL"}}"#, 500, .unavailable),
        (#"{"error":{"message":"API key not valid","status":"INVALID_ARGUMENT"}}"#, 400, .unauthenticated),
        (#"{"error":{"message":"No.","details":[{"reason":"API_KEY_IP_ADDRESS_BLOCKED"}]}}"#, 403, .unauthenticated),
        (#"{"error":{"message":"CONFIGURATION_NOT_FOUND"}}"#, 400, .failedPrecondition),
        (#"{"error":{"message":"PROJECT_NUMBER_MISMATCH"}}"#, 400, AuthError.Code(rawValue: "PROJECT_NUMBER_MISMATCH")),
    ])
    func `No failure signs anybody out`(answer: String, status: Int, code: AuthError.Code) async throws {
        let bed = try await AuthBed.signedIn(AuthBed.refresh(answer, status: status), AuthBed.refreshed("second"))
        #expect(await refreshCode(bed) == code)
        #expect(await bed.client.currentUser?.id == "alice")
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken(), "the one that is still good")
        #expect(await refreshCode(bed) == nil)
    }

    @Test func `A lost network signs no one out`() async throws {
        let gone = ScriptedExchange.on(
            .post, AuthBed.secureToken, .failure(TransportError(.hostNotFound, "no", isRetryable: true)))
        let bed = try await AuthBed.signedIn(gone, gone)
        bed.now += 4000
        let code = await bed.code { () async throws(AuthError) in _ = try await bed.client.accessToken() }
        #expect(code == .unavailable)
        #expect(await bed.client.currentUser?.id == "alice")
    }

    @Test(arguments: [
        ("TOKEN_EXPIRED", AuthError.Code.sessionExpired, false), ("INVALID_REFRESH_TOKEN", .sessionExpired, false),
        ("USER_DISABLED", .userDisabled, true), ("USER_NOT_FOUND", .sessionExpired, true),
    ])
    func `A refusal ends the session, with its reason`(
        serverCode: String, code: AuthError.Code, isSignedOut: Bool
    ) async throws {
        let bed = try await AuthBed.signedIn(AuthBed.refresh(#"{"error":{"message":"\#(serverCode)"}}"#, status: 400))
        let user = try #require(await bed.client.currentUser)
        #expect(await refreshCode(bed) == code)
        #expect(await bed.client.state == (isSignedOut ? .signedOut(SignOut(.byServer)) : .expired(user)))
    }

    @Test func `A token of another user is no answer`() async throws {
        let bed = try await AuthBed.signedIn(AuthBed.refreshed("second", user: "mallory"))
        #expect(await refreshCode(bed) == .unavailable)
        #expect(await bed.client.currentUser?.id == "alice")
    }

    @Test func `Signing out needs no server`() async throws {
        let bed = try await AuthBed.signedIn()
        try await bed.client.signOut()
        #expect(await bed.client.state == .signedOut(SignOut(.byUser)))
        let code = await bed.code { () async throws(AuthError) in try await bed.client.signOut(.everywhere) }
        #expect(code == .unsupported)
        try bed.transport.verify()
    }

    // MARK: The account

    @Test func `A token that is not taken is replaced once, and the call repeated`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.refusal("/v1/accounts:lookup", "TOKEN_EXPIRED"), AuthBed.refreshed("second"),
            AuthBed.lookup("alice", #","displayName":"Alice""#))
        #expect(try await bed.client.reloadUser().displayName == "Alice")
        #expect(bed.body(4)["idToken"]?.string == AuthBed.idToken(name: "second"))
        #expect(await bed.client.currentUser?.displayName == "Alice")
    }

    @Test func `A session whose new token is not taken either has expired`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.refusal("/v1/accounts:lookup", "INVALID_ID_TOKEN"), AuthBed.refreshed("second"),
            AuthBed.refusal("/v1/accounts:lookup", "INVALID_ID_TOKEN"))
        let code = await bed.code { () async throws(AuthError) in _ = try await bed.client.reloadUser() }
        #expect(code == .sessionExpired)
        #expect(await !bed.client.state.isSignedIn)
    }

    @Test func `A call whose API key is refused ends no session`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.refusal("/v1/accounts:lookup", "API key not valid. Please pass a valid API key."))
        let code = await bed.code { () async throws(AuthError) in _ = try await bed.client.reloadUser() }
        #expect(code == .unauthenticated)
        #expect(await bed.client.state.isSignedIn)
        try bed.transport.verify()
    }

    @Test func `An account that is gone is signed out`() async throws {
        let bed = try await AuthBed.signedIn(AuthBed.refusal("/v1/accounts:lookup", "USER_NOT_FOUND"))
        let code = await bed.code { () async throws(AuthError) in _ = try await bed.client.reloadUser() }
        #expect(code == .sessionExpired)
        #expect(await bed.client.state == .signedOut(SignOut(.byServer)))
    }

    @Test func `A change without new tokens keeps the old ones, one with them replaces them`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.call(update, #"{"localId":"alice","displayName":"A"}"#),
            AuthBed.lookup("alice", #","displayName":"A""#),
            AuthBed.call(update, "{\(AuthBed.tokens("changed"))}"), AuthBed.lookup())
        try await bed.client.updateAccount(AccountChanges(displayName: "A"))
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken())
        try await bed.client.changePassword(to: "another")
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken(name: "changed"))
        #expect(bed.body(5)["idToken"]?.string == AuthBed.idToken(name: "changed"))
    }

    @Test func `A name is cleared by saying so`() async throws {
        let bed = try await AuthBed.signedIn(AuthBed.call(update, "{}"), AuthBed.lookup())
        try await bed.client.updateAccount(AccountChanges(displayName: ""))
        #expect(bed.body(2)["deleteAttribute"] == ["DISPLAY_NAME"] && bed.body(2)["displayName"] == nil)
    }

    @Test func `A network that fails after a change keeps what the answer said`() async throws {
        let lost = TransportError(.connectionLost, "the connection broke", mayHaveBeenSent: true)
        let bed = try await AuthBed.signedIn(
            AuthBed.call(update, #"{"localId":"alice","displayName":"A"}"#),
            .on(.post, AuthBed.toolkit + "/v1/accounts:lookup", .failure(lost)))
        #expect(try await bed.client.updateAccount(AccountChanges(displayName: "A")).displayName == "A")
        #expect(await bed.client.currentUser?.displayName == "A")
    }

    @Test func `Where addresses are protected a new one is asked for by mail, and the rest changes`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.refusal(update, "OPERATION_NOT_ALLOWED : Please verify the new email before changing email."),
            AuthBed.call(update, "{\(AuthBed.tokens("changed"))}"),
            AuthBed.call("/v1/accounts:sendOobCode", "{}"), AuthBed.lookup())
        try await bed.client.updateAccount(AccountChanges(email: "new@example.com", password: "another"))
        #expect(bed.body(3)["email"] == nil && bed.body(3)["password"]?.string == "another")
        #expect(bed.body(4)["requestType"]?.string == "VERIFY_AND_CHANGE_EMAIL")
        #expect(bed.body(4)["newEmail"]?.string == "new@example.com")
        #expect(bed.body(4)["idToken"]?.string == AuthBed.idToken(name: "changed"), "the old token is over")
        try bed.transport.verify()
    }

    @Test func `A mail that fails after a new password does not cost the session`() async throws {
        for code in ["TOO_MANY_ATTEMPTS_TRY_LATER", "EMAIL_EXISTS", "UNAVAILABLE"] {
            let bed = try await AuthBed.signedIn(
                AuthBed.refusal(update, "EMAIL_CHANGE_NEEDS_VERIFICATION"),
                AuthBed.call(update, #"{"displayName":"A",\#(AuthBed.tokens("changed"))}"#),
                AuthBed.refusal("/v1/accounts:sendOobCode", code, status: code == "UNAVAILABLE" ? 500 : 400),
                AuthBed.refreshed("next"))
            let error = await #expect(throws: AuthError.self) {
                try await bed.client.updateAccount(
                    AccountChanges(displayName: "A", email: "new@example.com", password: "another"))
            }
            #expect(error?.message.hasPrefix("The account was changed except for its email address") == true)
            #expect(await bed.client.currentUser?.displayName == "A")
            #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken(name: "changed"))
            _ = try await bed.client.accessToken(refreshing: true)
            try bed.transport.verify()
            #expect(bed.bodies.last?.contains("refresh-changed") == true, "the old refresh token is dead")
        }
    }

    @Test(arguments: ["QUOTA_EXCEEDED", "OPERATION_NOT_ALLOWED"])
    func `A refused read of the account undoes no change`(code: String) async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.call(update, "{\(AuthBed.tokens("changed"))}"), AuthBed.refusal("/v1/accounts:lookup", code))
        try await bed.client.changePassword(to: "another")
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken(name: "changed"))
    }

    @Test func `A cancelled change of the password does not cost the session`() async throws {
        let gate = Gate()
        let bed = try await AuthBed.signedIn(
            .on(
                .post, AuthBed.toolkit + update,
                ScriptedReply.json("{\(AuthBed.tokens("changed"))}").delayed(until: gate)),
            AuthBed.lookup())
        let change = Task {
            await bed.code { () async throws(AuthError) in try await bed.client.changePassword(to: "another") }
        }
        try await eventually("the server is asked") { gate.waiting == 1 }
        change.cancel()
        #expect(await change.value == .cancelled, "its caller does not wait")
        gate.open()
        try await eventually("the new token is saved") {
            try await bed.client.accessToken().value.reveal() == AuthBed.idToken(name: "changed")
        }
    }

    @Test func `A password is linked by signing up with a token`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.call("/v1/accounts:signUp", "{\(AuthBed.tokens("linked"))}"), AuthBed.lookup())
        try await bed.client.link(.password(email: "a@b.c", "secret"))
        #expect(bed.body(2)["idToken"]?.string == AuthBed.idToken() && bed.body(2)["email"]?.string == "a@b.c")
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken(name: "linked"))
    }

    @Test func `A link that was sent to another address is a wrong proof, also when it is to be linked`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.refusal(
                "/v1/accounts:signInWithEmailLink",
                "INVALID_EMAIL : The email provided does not match the sign-in email address."))
        let url = try #require(URL(string: "https://d/?apiKey=k&mode=signIn&oobCode=c"))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.link(.emailLink(email: "a@b.c", url))
        }
        #expect(code == .invalidCredential)
        #expect(await bed.client.currentUser?.id == "alice")
    }

    @Test func `Linking what belongs to somebody else changes nothing`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.call("/v1/accounts:signInWithIdp", #"{"errorMessage":"FEDERATED_USER_ID_ALREADY_LINKED"}"#))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.link(.identityToken(.google, "t"))
        }
        #expect(code == .identityInUse)
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken())
    }

    @Test func `A fresh proof is in the new tokens, and another person's is none`() async throws {
        let path = "/v1/accounts:signInWithPassword"
        let bed = try await AuthBed.signedIn(
            AuthBed.call(path, "{\(AuthBed.tokens("bob", user: "bob"))}"),
            AuthBed.call(path, "{\(AuthBed.tokens("proved"))}"), AuthBed.lookup())
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.reauthenticate(with: .password(email: "bob@example.com", "x"))
        }
        #expect(code == .invalidCredential)
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken())
        try await bed.client.reauthenticate(with: .password(email: "alice@example.com", "x"))
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken(name: "proved"))
    }

    @Test func `The link and the custom token of another account are not even sent as a proof`() async throws {
        let bed = try await AuthBed.signedIn(AuthBed.lookup(), AuthBed.lookup(), AuthBed.lookup())
        let link = try #require(URL(string: "https://d/?apiKey=k&mode=signIn&oobCode=c"))
        let claims: JSON = ["uid": "bob"]
        let signed = Secret("e30.\(Base64.encode(claims.bytes(), alphabet: .url)).c2ln")
        for credential in [.emailLink(email: "bob@example.com", link), .customToken(signed), .customToken("none")]
            as [AuthCredential]
        {
            let code = await bed.code { () async throws(AuthError) in
                try await bed.client.reauthenticate(with: credential)
            }
            #expect(code == .invalidCredential)
        }
        #expect(await bed.client.currentUser?.id == "alice")
        try bed.transport.verify()
    }

    @Test func `A code sent to a phone proves an account, and what a server makes of it is removed`() async throws {
        let path = "/v1/accounts:signInWithPhoneNumber"
        let bed = try await AuthBed.signedIn(
            AuthBed.refusal(path, "USER_NOT_FOUND"),
            AuthBed.call(path, #"{"isNewUser":true,\#(AuthBed.tokens("made", user: "made"))}"#),
            AuthBed.call("/v1/accounts:delete", "{}"))
        let sent = PhoneVerification(phoneNumber: "+15550100", id: "s")
        for expected in [AuthError.Code.userNotFound, .invalidCredential] {
            let code = await bed.code { () async throws(AuthError) in
                try await bed.client.reauthenticate(with: .phoneCode(sent, "123456"))
            }
            #expect(code == expected)
        }
        #expect(bed.body(2)["operation"]?.string == "REAUTH")
        #expect(await bed.client.currentUser?.id == "alice")
        try bed.transport.verify()
        #expect(bed.body(4)["idToken"]?.string == AuthBed.idToken("made", name: "made"))
    }

    @Test func `A proof by identity never makes a new account`() async throws {
        let bed = try await AuthBed.signedIn(AuthBed.refusal("/v1/accounts:signInWithIdp", "USER_NOT_FOUND"))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.reauthenticate(with: .identityToken(.google, "t"))
        }
        #expect(code == .userNotFound && bed.body(2)["autoCreate"]?.bool == false)
        #expect(await bed.client.currentUser?.id == "alice")
    }

    @Test func `Deleting needs a fresh sign-in where the server says so, and then ends everything`() async throws {
        let path = "/v1/accounts:delete"
        let bed = try await AuthBed.signedIn(
            AuthBed.refusal(path, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"), AuthBed.call(path, "{}"))
        let code = await bed.code { () async throws(AuthError) in try await bed.client.deleteAccount() }
        #expect(code == .recentSignInRequired)
        #expect(await bed.client.state.isSignedIn)
        try await bed.client.deleteAccount()
        #expect(await bed.client.state == .signedOut(SignOut(.accountDeleted, wipesLocalData: true)))
    }

    @Test func `An authenticator app is set up with a key and an address for it`() async throws {
        let bed = try await AuthBed.signedIn(
            AuthBed.call(
                "/v2/accounts/mfaEnrollment:start",
                #"{"totpSessionInfo":{"sharedSecretKey":"KEY","verificationCodeLength":6,"hashingAlgorithm":"SHA1","periodSec":30,"sessionInfo":"s"}}"#
            ),
            AuthBed.call(
                "/v2/accounts/mfaEnrollment:finalize",
                #"{"idToken":"\#(AuthBed.idToken(name: "mfa"))","refreshToken":"r"}"#),
            AuthBed.lookup("alice", #","mfaInfo":[{"mfaEnrollmentId":"f","displayName":"app","totpInfo":{}}]"#))
        let enrollment = try await bed.client.beginSecondFactor(.totp)
        #expect(enrollment.uri.reveal().hasPrefix("otpauth://totp/demo:alice%40example.com?secret=KEY&issuer=demo"))
        let user = try await bed.client.confirmSecondFactor(enrollment, code: "123456", displayName: "app")
        #expect(user.secondFactors == [SecondFactor(id: "f", kind: .totp, displayName: "app")])
        #expect(try await bed.client.accessToken().value.reveal() == AuthBed.idToken(name: "mfa"))
    }
}

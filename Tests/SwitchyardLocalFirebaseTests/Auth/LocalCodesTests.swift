import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalFirebase

@Suite struct `Codes of a local Firebase` {
    @Test func `A mailed code sets a new password once, and not after an hour`() async throws {
        let time = LocalTime()
        let client = try LocalClient(time: time)
        _ = try await client.signUp()
        let ask: JSON = ["requestType": "PASSWORD_RESET", "email": "ada@example.com"]
        #expect(try await client.auth("accounts:sendOobCode", ask).json["email"] == "ada@example.com")
        let code = try await client.mailedCode(to: "ada@example.com").code
        let look = try await client.auth("accounts:resetPassword", ["oobCode": .string(code)])
        #expect(look.json["requestType"] == "PASSWORD_RESET")
        let set: JSON = ["oobCode": .string(code), "newPassword": "brand new"]
        #expect(try await client.auth("accounts:resetPassword", set).status == 200)
        #expect(try await client.auth("accounts:resetPassword", set).error == "INVALID_OOB_CODE")
        let answer = try await client.auth(
            "accounts:signInWithPassword", ["email": "ada@example.com", "password": "brand new"])
        #expect(answer.status == 200)

        _ = try await client.auth("accounts:sendOobCode", ask)
        let late = try await client.mailedCode(to: "ada@example.com").code
        time.advance(by: 3600)
        #expect(try await client.auth("accounts:resetPassword", ["oobCode": .string(late)]).error == "EXPIRED_OOB_CODE")
        let unknown: JSON = ["requestType": "PASSWORD_RESET", "email": "eve@example.com"]
        #expect(try await client.auth("accounts:sendOobCode", unknown).error == "EMAIL_NOT_FOUND")
        await client.stop()
    }

    @Test func `A link lets in whoever owns the address`() async throws {
        let client = try LocalClient()
        _ = try await client.auth(
            "accounts:sendOobCode",
            ["requestType": "EMAIL_SIGNIN", "email": "ada@example.com", "continueUrl": "https://app.example/in?x=1"])
        let (code, link) = try await client.mailedCode(to: "ada@example.com")
        #expect(link.contains("mode=signIn"))
        let path = String(link.dropFirst("http://\(client.firebase.host)".count))
        let page = try await client.send(.get, path)
        #expect(page.status == 303)
        #expect(page.headers["Location"]?.hasPrefix("https://app.example/in?x=1&") == true)
        let wrong: JSON = ["email": "eve@example.com", "oobCode": .string(code)]
        #expect(try await client.auth("accounts:signInWithEmailLink", wrong).error == "INVALID_EMAIL")
        let answer = try await client.auth(
            "accounts:signInWithEmailLink", ["email": "ada@example.com", "oobCode": .string(code)])
        #expect(answer.json["isNewUser"] == true)
        let session = try LocalClient.Session(answer)
        #expect(LocalClient.claims(session.idToken)["email_verified"] == true)
        await client.stop()
    }

    @Test func `An address is confirmed and changed by mail, and the change can be undone`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        _ = try await client.auth(
            "accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": .string(ada.idToken)])
        let verify = try await client.mailedCode(to: "ada@example.com").code
        #expect(
            try await client.auth("accounts:update", ["oobCode": .string(verify)]).json["emailVerified"] == true)
        _ = try await client.auth(
            "accounts:sendOobCode",
            [
                "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": .string(ada.idToken),
                "newEmail": "countess@example.com",
            ])
        let change = try await client.mailedCode(to: "countess@example.com").code
        let changed = try await client.auth("accounts:update", ["oobCode": .string(change)])
        #expect(changed.json["email"] == "countess@example.com")
        #expect(try await client.auth("accounts:lookup", ["idToken": .string(ada.idToken)]).error == "TOKEN_EXPIRED")
        let undo = try await client.mailedCode(to: "ada@example.com").code
        #expect(try await client.auth("accounts:update", ["oobCode": .string(undo)]).json["email"] == "ada@example.com")
        await client.stop()
    }

    @Test func `A code to a phone signs in, and a number belongs to one account`() async throws {
        let client = try LocalClient()
        func verify(_ extra: JSONObject = JSONObject(), wrong: Bool = false) async throws -> LocalClient.Answer {
            let sent = try await client.auth("accounts:sendVerificationCode", ["phoneNumber": "+15005550001"])
            var body = extra
            body["sessionInfo"] = sent.json["sessionInfo"]
            body["code"] = .string(wrong ? "x" : try await client.phonedCode(to: "+15005550001"))
            return try await client.auth("accounts:signInWithPhoneNumber", .object(body))
        }
        #expect(try await verify(wrong: true).error == "INVALID_CODE")
        let first = try await verify()
        #expect(first.json["isNewUser"] == true)
        #expect(try LocalClient.Session(await verify()).id == first.json["localId"]?.string)
        let ada = try await client.signUp()
        let taken = try await verify(["idToken": .string(ada.idToken)])
        #expect(taken.json["idToken"] == nil)
        #expect(taken.json["temporaryProof"] != nil)
        #expect(
            try await client.auth("accounts:sendVerificationCode", ["phoneNumber": "0500"]).error
                == "INVALID_PHONE_NUMBER")
        await client.stop()
    }

    @Test func `An authenticator app is enrolled and asked for, each code once`() async throws {
        let time = LocalTime()
        let client = try LocalClient(time: time)
        let ada = try await client.signUp()
        let start: JSON = ["idToken": .string(ada.idToken), "totpEnrollmentInfo": [:]]
        let unverified = try await client.auth("accounts/mfaEnrollment:start", start, version: "v2")
        #expect(unverified.error == "UNVERIFIED_EMAIL")
        _ = try await client.auth(
            "accounts:update", ["localId": .string(ada.id), "emailVerified": true], isAdmin: true)
        let info = try await client.auth("accounts/mfaEnrollment:start", start, version: "v2").json["totpSessionInfo"]
        let pending = try #require(
            client.firebase.auth.perform { $0.pendingTOTPs.first { $0.session == info?["sessionInfo"]?.string } })
        #expect(info?["sharedSecretKey"]?.string == Base32.encode(pending.key))
        func code() -> JSON { .string(OneTimeCode.code(key: pending.key, step: time.now.seconds / 30)) }
        let enrolled = try await client.auth(
            "accounts/mfaEnrollment:finalize",
            [
                "idToken": .string(ada.idToken), "displayName": "my app",
                "totpVerificationInfo": ["sessionInfo": info?["sessionInfo"] ?? .null, "verificationCode": code()],
            ], version: "v2")
        _ = try LocalClient.Session(enrolled)

        let first = try await client.auth(
            "accounts:signInWithPassword", ["email": "ada@example.com", "password": "s3cret!!"])
        #expect(first.json["idToken"] == nil)
        let factor = first.json["mfaInfo"]?[0]
        #expect(factor?["displayName"] == "my app")
        func finish() async throws -> LocalClient.Answer {
            try await client.auth(
                "accounts/mfaSignIn:finalize",
                [
                    "mfaPendingCredential": first.json["mfaPendingCredential"] ?? .null,
                    "mfaEnrollmentId": factor?["mfaEnrollmentId"] ?? .null,
                    "totpVerificationInfo": ["verificationCode": code()],
                ], version: "v2")
        }
        #expect(try await finish().error == "INVALID_CODE", "the code that enrolled it")
        time.advance(by: 30)
        let session = try LocalClient.Session(await finish())
        #expect(LocalClient.claims(session.idToken)["firebase"]?["sign_in_second_factor"] == "totp")
        #expect(try await finish().error == "INVALID_CODE", "the code just used")
        await client.stop()
    }
}

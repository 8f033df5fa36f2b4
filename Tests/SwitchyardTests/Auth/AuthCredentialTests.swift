import Foundation
import Switchyard
import Testing

/// What an author of an auth provider makes, and what none of it shows.
@Suite struct AuthCredentialTests {
    private let signIn = BrowserSignIn(
        identityProvider: .google, url: URL(string: "https://accounts.example/authorize?code_challenge=ch4llenge")!,
        redirectURL: URL(string: "app://callback")!, state: "st4te", verifier: "v3rifier", session: "s3ssion")

    @Test func `No description or dump shows a proof key, a code or a number`() {
        let verification = PhoneVerification(phoneNumber: "+15550100", id: "v1")
        let credentials: [AuthCredential] = [
            .browser(signIn, callback: URL(string: "app://callback?code=c0de")!), .phoneCode(verification, "123456"),
            .password(email: "alice@example.com", "p4ssword"), .customToken("t0ken"),
        ]
        let challenge = SecondFactorChallenge(factors: [], session: "s3ssion")
        let enrollment = SecondFactorEnrollment(kind: .totp, sharedKey: "k3y", uri: "otpauth://k3y", session: "s3ssion")
        var dumped = ""
        dump(signIn, to: &dumped)
        var texts = [
            dumped, "\(signIn)", String(reflecting: signIn), "\(verification)", "\(challenge)", "\(enrollment)",
        ]
        texts += credentials.map { "\($0)" }
        for text in texts {
            for secret in [
                "ch4llenge", "st4te", "v3rifier", "s3ssion", "5550100", "123456", "alice@", "p4ssword", "t0ken", "k3y",
                "c0de",
            ] {
                #expect(!text.contains(secret), "\(text)")
            }
        }
    }

    @Test func `A browser sign-in outlasts the app's absence whole`() throws {
        let kept = try JSONEncoder().encode(signIn)
        #expect(try JSONDecoder().decode(BrowserSignIn.self, from: kept) == signIn)
    }
}

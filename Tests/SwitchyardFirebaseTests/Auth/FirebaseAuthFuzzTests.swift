import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// A server that answers anything, anywhere: errors have their type, nothing hangs, and a session is whole or not there.
@Suite struct FirebaseAuthFuzzTests {
    private static let answers = [
        "{\(AuthBed.tokens())}", "{\(AuthBed.tokens("other", user: "bob"))}",
        #"{"users":[{"localId":"alice","email":"alice@example.com"}]}"#, #"{"users":[{}]}"#, #"{"users":5}"#,
        #"{"mfaPendingCredential":"x","mfaInfo":[{"mfaEnrollmentId":"f"},{},7]}"#, #"{"needConfirmation":true}"#,
        #"{"errorMessage":""}"#, #"{"errorMessage":"EMAIL_EXISTS : x"}"#, #"{"error":{"message":"TOKEN_EXPIRED"}}"#,
        #"{"error":{"message":"USER_DISABLED"}}"#, #"{"error":{"message":":::"}}"#, #"{"error":[]}"#, "{}", "[]",
        "null",
        "", "<html>", #"{"authUri":"https://x/?state=1","sessionId":"s"}"#, #"{"authUri":"not an address"}"#,
        #"{"totpSessionInfo":{"sharedSecretKey":"K","sessionInfo":"s","periodSec":-1}}"#, #"{"sessionInfo":"s"}"#,
        #"{"id_token":"\#(AuthBed.idToken())","refresh_token":"r","expires_in":"3600"}"#,
        #"{"id_token":"\#(AuthBed.idToken())","refresh_token":"r","expires_in":"99999999999999999999"}"#,
        #"{"idToken":"e30.e30.","refreshToken":"r","expiresIn":"-5"}"#,
        #"{"idToken":"\#(AuthBed.idToken())","refreshToken":"r","expiresIn":"9223372036854775807"}"#,
    ]

    private func reply(_ random: inout SeededGenerator) -> ScriptedReply {
        var text = Array(random.pick(Self.answers).utf8)
        if random.chance(15), !text.isEmpty {
            for _ in 0..<random.int(1..<4) { text[random.int(0..<text.count)] = UInt8(random.int(0..<256)) }
        }
        if random.chance(10) { text = Array(text.prefix(random.int(0..<text.count + 1))) }
        if random.chance(8) {
            return .failure(TransportError(random.pick([.connectionLost, .hostNotFound, .badResponse, .stalled]), "x"))
        }
        return .status(random.pick([200, 200, 200, 200, 400, 400, 401, 403, 429, 500, 503, 302, 204]), body: text)
    }

    @Test(arguments: 0..<RunSize.full(200, part: 40)) func `Any answer leaves a client that still works`(seed: Int)
        async throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        let bed = try AuthBed()
        let link = try #require(URL(string: "https://d/?apiKey=k&mode=signIn&oobCode=c"))
        for _ in 0..<12 {
            // More than any one operation asks for.
            for _ in 0..<8 {
                let answer = reply(&random)
                bed.transport.expect(.matching("anything", { _ in true }, reply: { _ in answer }))
            }
            let operation = random.int(0..<13)
            _ = await bed.code { () async throws(AuthError) in
                let client = bed.client
                switch operation {
                case 0: try await client.signUp(email: "a@b.c", password: "x")
                case 1: try await client.signIn(email: "a@b.c", password: "x")
                case 2: try await client.signInAnonymously()
                case 3: try await client.signIn(with: .identityToken(.google, "t"))
                case 4: try await client.signIn(with: .emailLink(email: "a@b.c", link))
                case 5: _ = try await client.accessToken(refreshing: true)
                case 6: try await client.reloadUser()
                case 7: try await client.updateAccount(AccountChanges(displayName: "A", email: "b@c.d", password: "y"))
                case 8: try await client.link(.identityToken(.google, "t"))
                case 9: try await client.reauthenticate(with: .password(email: "a@b.c", "x"))
                case 10: _ = try await client.beginSecondFactor(.totp)
                case 11: _ = try await client.beginBrowserSignIn(with: .google, redirectURL: link, scopes: [])
                default: try await client.deleteAccount()
                }
            }
            if let user = await bed.client.currentUser {
                #expect(["alice", "bob"].contains(user.id), "no one is made up")
            }
            if random.chance(10) { bed.now += 4000 }
        }
        try? await bed.client.signOut()
        #expect(await !bed.client.state.isSignedIn)
    }
}

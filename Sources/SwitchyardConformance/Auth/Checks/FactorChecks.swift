import Foundation
import Switchyard
import SwitchyardBytes

extension AuthConformance {
    static let factorChecks: [AuthCheck] = [
        AuthCheck("a second factor is enrolled with its first code", needs: .secondFactors) { context in
            let (user, enrollment) = try await enroll(context)
            try expect(!enrollment.sharedKey.isEmpty, "there is a key", found: "an empty one")
            try expect(
                enrollment.uri.reveal().hasPrefix("otpauth://totp/"), "there is an address for authenticator apps",
                found: "another")
            try expectEqual(user.secondFactors.count, 1, "the number of factors")
            try expectEqual(user.secondFactors[0].kind, .totp, "its kind")
            try expectEqual(user.secondFactors[0].displayName, "phone app", "its name")
        },
        AuthCheck("a wrong first code enrols nothing", needs: .secondFactors) { context in
            try await context.signUp(confirmed: true)
            let enrollment = try await context.client.beginSecondFactor(.totp)
            let right = try await context.harness.secondFactorCode(for: enrollment.sharedKey)
            try await context.expectFailure(.invalidCredential, in: "confirming") {
                try await context.client.confirmSecondFactor(enrollment, code: wrong(right), displayName: nil)
            }
            try expectEqual(try await context.client.reloadUser().secondFactors.count, 0, "the number of factors")
        },
        AuthCheck("with a second factor a password is not enough", needs: .secondFactors) { context in
            let (user, _) = try await enroll(context)
            let other = try await context.device()
            let challenge = try await challenge(on: other, context)
            try expectEqual(challenge.factors.map(\.id), user.secondFactors.map(\.id), "the factors asked for")
            try await context.expectSignedOut(on: other)
            try await context.expectFailure(.notSignedIn, in: "asking for a token") { try await other.accessToken() }
        },
        AuthCheck("the answer to the challenge ends the sign-in", needs: .secondFactors) { context in
            let (user, enrollment) = try await enroll(context)
            let other = try await context.device()
            let challenge = try await challenge(on: other, context)
            let code = try await context.harness.secondFactorCode(for: enrollment.sharedKey)
            let answered = try await other.answer(
                challenge, with: SecondFactorAnswer(factor: user.secondFactors[0].id, code: code))
            try expectEqual(answered.id, user.id, "the user's name")
            try await context.expectSignedIn(user.id, on: other)
            try expectEqual(try await other.accessToken().userID, user.id, "whose token it is")
        },
        AuthCheck("a wrong answer signs no one in", needs: .secondFactors) { context in
            let (user, enrollment) = try await enroll(context)
            let other = try await context.device()
            let challenge = try await challenge(on: other, context)
            let right = try await context.harness.secondFactorCode(for: enrollment.sharedKey)
            try await context.expectFailure(.invalidCredential, in: "the answer") {
                try await other.answer(
                    challenge, with: SecondFactorAnswer(factor: user.secondFactors[0].id, code: wrong(right)))
            }
            try await context.expectSignedOut(on: other)
        },
        AuthCheck("a second factor that was removed is not asked for", needs: .secondFactors) { context in
            let (user, _) = try await enroll(context)
            let without = try await context.client.removeSecondFactor(user.secondFactors[0].id)
            try expectEqual(without.secondFactors.count, 0, "the number of factors")
            let other = try await context.device()
            try expectEqual(try await context.signIn(on: other).id, user.id, "the user's name")
        },
    ].within("second factors")

    private static func enroll(_ context: AuthContext) async throws -> (AuthUser, SecondFactorEnrollment) {
        try await context.signUp(confirmed: true)
        let enrollment = try await context.client.beginSecondFactor(.totp)
        let code = try await context.harness.secondFactorCode(for: enrollment.sharedKey)
        let user = try await context.client.confirmSecondFactor(enrollment, code: code, displayName: "phone app")
        return (user, enrollment)
    }

    private static func challenge(
        on client: any AuthClient, _ context: AuthContext
    ) async throws -> SecondFactorChallenge {
        let error = try await context.expectFailure(.secondFactorRequired, in: "signing in") {
            try await context.signIn(on: client)
        }
        return try expectValue(error.challenge, "a challenge in the error")
    }

    private static func wrong(_ code: Secret) -> Secret {
        Secret(String(code.reveal().map { $0 == "1" ? "2" : "1" }))
    }

    static let refusalChecks: [AuthCheck] = [
        refusal(of: .anonymous, "anonymous accounts") { try await $0.client.signInAnonymously() },
        refusal(of: .customTokens, "custom tokens") { try await $0.client.signIn(with: .customToken("token")) },
        refusal(of: .identityTokens, "identity tokens") {
            try await $0.client.signIn(with: .identityToken($0.features.identityProvider, "token"))
        },
        refusal(of: .browser, "sign-in through the browser") {
            try await $0.client.beginBrowserSignIn(
                with: $0.features.identityProvider, redirectURL: $0.redirectURL, scopes: [])
        },
        refusal(of: .phoneCodes, "phone codes") { try await $0.client.sendPhoneCode(to: "+15005550006") },
        refusal(of: .emailLinks, "email links") {
            try await $0.client.sendEmailLink(to: $0.email(), redirectURL: $0.redirectURL)
        },
        refusal(of: .passwordReset, "password resets") { try await $0.client.sendPasswordReset(to: $0.email()) },
        refusal(of: .linking, "linking") { context in
            try await context.signUp()
            return try await context.client.link(.password(email: context.email("other"), context.password))
        },
        refusal(of: .secondFactors, "second factors") { context in
            try await context.signUp()
            return try await context.client.beginSecondFactor(.totp)
        },
        refusal(of: .deletion, "deletion of accounts") { context in
            try await context.signUp()
            return try await context.client.deleteAccount()
        },
        refusal(of: .elsewhere, "signing out elsewhere") { context in
            try await context.signUp()
            return try await context.client.signOut(.others)
        },
    ].within("refusals")

    private static func refusal<Value: Sendable>(
        of requirement: AuthRequirement, _ what: String,
        _ body: @escaping @Sendable (AuthContext) async throws -> Value
    ) -> AuthCheck {
        AuthCheck("\(what): refused where it is not declared", needs: .no(requirement)) { context in
            try await expectRefusal(
                .unsupported, as: AuthError.self, of: "Auth", by: context.client.provider, "the call"
            ) { try await body(context) }
        }
    }

    static let careChecks: [AuthCheck] = [
        AuthCheck("the client has the capabilities that the harness declares") { context in
            try expectEqual(context.client.capabilities, context.features.capabilities, "the client's capabilities")
            try expect(!context.client.provider.rawValue.isEmpty, "the provider has a name", found: "an empty one")
        },
        AuthCheck("no text gives away a password, a token or an address") { context in
            let user = try await context.signUp()
            let token = try await context.client.accessToken()
            let error = try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await context.client.signIn(email: context.email(), password: context.otherPassword)
            }
            let credential = AuthCredential.password(email: context.email(), context.password)
            let texts = [
                "\(user)", "\(token)", "\(credential)", error.description, error.message, error.errorDescription ?? "",
                String(reflecting: token),
            ]
            let secrets =
                [context.password, context.otherPassword, token.value].map { $0.reveal() } + [context.email()]
            for text in texts {
                try expect(
                    !secrets.contains { text.includes($0) }, "no secret shows",
                    found: "one, in a text of \(text.count) characters")
            }
        },
        AuthCheck("a cancelled sign-in happens whole or not at all") { context in
            let user = try await context.signUp()
            for _ in 0..<8 {
                try await context.client.signOut()
                let task = Task { try await context.signIn() }
                task.cancel()
                do {
                    _ = try await task.value
                    try await context.expectSignedIn(user.id)
                } catch let error as AuthError {
                    try expectEqual(error.code, .cancelled, "the error's code")
                    try await context.expectSignedOut()
                }
            }
            try await context.signIn()
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("one's giving up on a token does not disturb the others") { context in
            let user = try await context.signUp()
            let impatient = Task { try await context.client.accessToken(refreshing: true) }
            let patient = Task { try await context.client.accessToken(refreshing: true) }
            impatient.cancel()
            try expectEqual(try await patient.value.userID, user.id, "whose token it is")
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("a client can be found in itself") { context in
            func find<Client: AuthClient>(_ client: Client) -> Bool { client.unwrapped(as: Client.self) != nil }
            try expect(find(context.client), "the client unwraps to its own type", found: "nothing")
        },
    ].within("care")
}

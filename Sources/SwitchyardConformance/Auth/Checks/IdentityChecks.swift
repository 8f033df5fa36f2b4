import Foundation
import Switchyard

extension AuthConformance {
    static let identityChecks: [AuthCheck] = [
        AuthCheck("an identity token makes an account, and finds it again", needs: .identityTokens) { context in
            let provider = context.features.identityProvider
            let user = try await context.client.signIn(with: identity("alice", context))
            try expect(user.identities.contains(provider), "the account has the identity", found: "\(user.identities)")
            let other = try await context.device()
            try expectEqual(try await other.signIn(with: identity("alice", context)).id, user.id, "the user's name")
        },
        AuthCheck("an identity token that no one signed is refused", needs: .identityTokens) { context in
            try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await context.client.signIn(
                    with: .identityToken(context.features.identityProvider, "no token at all"))
            }
            try await context.expectSignedOut()
        },
        AuthCheck("an identity that is linked signs in to the account", needs: .identityTokens, .linking) { context in
            let user = try await context.signUp()
            let linked = try await context.client.link(identity("alice", context))
            try expectEqual(linked.id, user.id, "the user's name")
            try expect(
                linked.identities.contains(context.features.identityProvider), "the account has the identity",
                found: "\(linked.identities)")
            try expect(
                linked.identities.contains(.password), "it has its password still", found: "\(linked.identities)")
            let other = try await context.device()
            try expectEqual(try await other.signIn(with: identity("alice", context)).id, user.id, "the user's name")
        },
        AuthCheck("an identity that is unlinked is gone from the account", needs: .identityTokens, .linking) {
            context in
            try await context.signUp()
            try await context.client.link(identity("alice", context))
            let user = try await context.client.unlink(context.features.identityProvider)
            try expect(
                !user.identities.contains(context.features.identityProvider), "the identity is gone",
                found: "\(user.identities)")
            try expect(
                try await !context.client.reloadUser().identities.contains(context.features.identityProvider),
                "it is gone on the server", found: "it is not")
        },
        AuthCheck("an identity belongs to one account only", needs: .identityTokens, .linking) { context in
            let other = try await context.device()
            let owner = try await other.signIn(with: identity("owner", context))
            let user = try await context.signUp("bob")
            try await context.expectFailure(.identityInUse, in: "linking") {
                try await context.client.link(identity("owner", context))
            }
            try await context.expectSignedIn(user.id)
            try await context.expectSignedIn(owner.id, on: other)
        },
        AuthCheck("an identity proves who one is", needs: .identityTokens) { context in
            let user = try await context.client.signIn(with: identity("alice", context))
            try await context.client.reauthenticate(with: identity("alice", context))
            try await context.expectSignedIn(user.id)
            _ = try await context.client.accessToken(refreshing: true)
        },
        AuthCheck("a proof by an unknown identity makes no account", needs: .identityTokens) { context in
            let user = try await context.signUp()
            try await context.expectFailure(.invalidCredential, .userNotFound, in: "the proof") {
                try await context.client.reauthenticate(with: identity("other", context))
            }
            try await context.expectSignedIn(user.id)
            // The address would be taken by the account that the proof made.
            try await context.signUp("other", on: context.device())
        },
        AuthCheck("linking needs a session", needs: .identityTokens, .linking) { context in
            try await context.expectFailure(.notSignedIn, in: "linking") {
                try await context.client.link(identity("alice", context))
            }
        },
        AuthCheck("a custom token signs in as the one it names", needs: .customTokens) { context in
            let id = "user-\(context.namespace)"
            let user = try await context.client.signIn(with: .customToken(context.harness.customToken(for: id)))
            try expectEqual(user.id, id, "the user's name")
            try expectEqual(try await context.client.accessToken().userID, id, "whose token it is")
        },
        AuthCheck("a custom token that no one signed is refused", needs: .customTokens) { context in
            try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await context.client.signIn(with: .customToken("no token at all"))
            }
            try await context.expectSignedOut()
        },
        AuthCheck("a browser sign-in begins with a page, and ends with its answer", needs: .browser) { context in
            let signIn = try await context.client.beginBrowserSignIn(
                with: context.features.identityProvider, redirectURL: context.redirectURL, scopes: ["email"])
            try expectEqual(signIn.redirectURL, context.redirectURL, "where the browser comes back to")
            try expect(
                ["http", "https"].contains(signIn.url.scheme ?? ""), "it is a page", found: "\(signIn.url.scheme ?? "")"
            )
            let callback = try await context.harness.completeBrowserSignIn(signIn, email: context.email())
            let user = try await context.client.signIn(with: .browser(signIn, callback: callback))
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("the answer to another browser sign-in is refused", needs: .browser) { context in
            let provider = context.features.identityProvider
            let one = try await context.client.beginBrowserSignIn(
                with: provider, redirectURL: context.redirectURL, scopes: [])
            let two = try await context.client.beginBrowserSignIn(
                with: provider, redirectURL: context.redirectURL, scopes: [])
            try expect(one.state != two.state, "each sign-in has a state of its own", found: "the same")
            let callback = try await context.harness.completeBrowserSignIn(one, email: context.email())
            try await context.expectFailure(.invalidCredential, .codeExpired, .invalidArgument, in: "signing in") {
                try await context.client.signIn(with: .browser(two, callback: callback))
            }
            try await context.expectSignedOut()
        },
        AuthCheck("an answer without the state of its page is refused", needs: .browser) { context in
            let signIn = try await context.client.beginBrowserSignIn(
                with: context.features.identityProvider, redirectURL: context.redirectURL, scopes: [])
            func items(_ url: URL) -> URLComponents? { URLComponents(url: url, resolvingAgainstBaseURL: false) }
            // A provider whose page has no state binds the answer by other means.
            guard items(signIn.url)?.queryItems?.contains(where: { $0.name == "state" }) == true else { return }
            let callback = try await context.harness.completeBrowserSignIn(signIn, email: context.email())
            var bare = items(callback)
            bare?.queryItems?.removeAll { $0.name == "state" }
            let answer = try expectValue(bare?.url, "the answer without its state")
            try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await context.client.signIn(with: .browser(signIn, callback: answer))
            }
            try await context.expectSignedOut()
        },
        AuthCheck("a browser sign-in that was called off signs no one in", needs: .browser) { context in
            let signIn = try await context.client.beginBrowserSignIn(
                with: context.features.identityProvider, redirectURL: context.redirectURL, scopes: [])
            let callback = URL(string: "\(context.redirectURL)?error=access_denied&state=\(signIn.state)")
            try await context.expectFailure(
                .invalidCredential, .cancelled, .codeExpired, .invalidArgument, in: "signing in"
            ) {
                try await context.client.signIn(with: .browser(signIn, callback: callback ?? context.redirectURL))
            }
            try await context.expectSignedOut()
        },
    ].within("identities")

    private static func identity(_ name: String, _ context: AuthContext) async throws -> AuthCredential {
        let provider = context.features.identityProvider
        let token = try await context.harness.identityToken(
            of: provider, subject: "\(context.namespace)-\(name)", email: context.email(name))
        return .identityToken(provider, token)
    }

    static let codeChecks: [AuthCheck] = [
        AuthCheck("a lost password is replaced with the code out of the mail", needs: .passwordReset) { context in
            let user = try await context.signUp()
            let other = try await context.device()
            try await other.sendPasswordReset(to: context.email())
            let code = try await context.harness.resetCode(for: context.email())
            try await other.resetPassword(code: code, newPassword: context.otherPassword)
            let third = try await context.device()
            try await context.expectFailure(.invalidCredential, in: "signing in with the old one") {
                try await context.signIn(on: third)
            }
            let same = try await third.signIn(email: context.email(), password: context.otherPassword)
            try expectEqual(same.id, user.id, "the user's name")
        },
        AuthCheck("no one learns whether an address has an account", needs: .passwordReset) { context in
            try await context.client.sendPasswordReset(to: context.email("missing"))
        },
        AuthCheck("a code out of the mail works once", needs: .passwordReset) { context in
            try await context.signUp()
            let other = try await context.device()
            try await other.sendPasswordReset(to: context.email())
            let code = try await context.harness.resetCode(for: context.email())
            try await other.resetPassword(code: code, newPassword: context.otherPassword)
            try await context.expectFailure(.codeExpired, .invalidCredential, in: "using it again") {
                try await context.device().resetPassword(code: code, newPassword: "yet another 9 one")
            }
        },
        AuthCheck("a made-up code replaces no password", needs: .passwordReset) { context in
            try await context.signUp()
            let other = try await context.device()
            try await context.expectFailure(.codeExpired, .invalidCredential, in: "using it") {
                try await other.resetPassword(code: "000000", newPassword: context.otherPassword)
            }
            try await context.signIn(on: other)
        },
        AuthCheck("a weak password takes no lost one's place", needs: .passwordReset) { context in
            try await context.signUp()
            let other = try await context.device()
            try await other.sendPasswordReset(to: context.email())
            let code = try await context.harness.resetCode(for: context.email())
            try await context.expectFailure(.weakPassword, in: "using it") {
                try await other.resetPassword(code: code, newPassword: "abc")
            }
        },
        AuthCheck("the link out of the mail signs in", needs: .emailLinks) { context in
            let user = try await context.signUp()
            let other = try await context.device()
            try await other.sendEmailLink(to: context.email(), redirectURL: context.redirectURL)
            let link = try await context.harness.signInLink(for: context.email())
            let same = try await other.signIn(with: .emailLink(email: context.email(), link))
            try expectEqual(same.id, user.id, "the user's name")
            try await context.expectSignedIn(user.id, on: other)
        },
        AuthCheck("the link out of the mail works once", needs: .emailLinks) { context in
            try await context.signUp()
            let other = try await context.device()
            try await other.sendEmailLink(to: context.email(), redirectURL: context.redirectURL)
            let link = try await context.harness.signInLink(for: context.email())
            try await other.signIn(with: .emailLink(email: context.email(), link))
            let third = try await context.device()
            try await context.expectFailure(.codeExpired, .invalidCredential, in: "using it again") {
                try await third.signIn(with: .emailLink(email: context.email(), link))
            }
            try await context.expectSignedOut(on: third)
        },
        AuthCheck("the link of somebody else signs no one in", needs: .emailLinks) { context in
            let alice = try await context.signUp()
            let mallory = try await context.device()
            try await context.signUp("mallory", on: mallory)
            for _ in 1...2 {
                try await mallory.sendEmailLink(to: context.email("mallory"), redirectURL: context.redirectURL)
                let link = try await context.harness.signInLink(for: context.email("mallory"))
                let isSignedIn = await context.client.currentUser != nil
                try await context.expectFailure(.invalidCredential, in: "signing in") {
                    try await context.client.signIn(with: .emailLink(email: context.email(), link))
                }
                if isSignedIn {
                    try await context.expectSignedIn(alice.id)
                    try expectEqual(try await context.client.accessToken().userID, alice.id, "whose token it is")
                    try await context.client.signOut()
                } else {
                    try await context.expectSignedOut()
                }
            }
        },
        AuthCheck("a code sent to a phone signs in", needs: .phoneCodes) { context in
            let number = context.harness.phoneNumber(in: context.namespace)
            let verification = try await context.client.sendPhoneCode(to: number)
            try expectEqual(verification.phoneNumber, number, "the number")
            let code = try await context.harness.phoneCode(for: number)
            let user = try await context.client.signIn(with: .phoneCode(verification, code))
            try expectEqual(user.phoneNumber, number, "the user's number")
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("a wrong code from a phone is refused", needs: .phoneCodes) { context in
            let number = context.harness.phoneNumber(in: context.namespace)
            let verification = try await context.client.sendPhoneCode(to: number)
            let right = try await context.harness.phoneCode(for: number)
            let wrong = Secret(String(right.reveal().map { $0 == "1" ? "2" : "1" }))
            try await context.expectFailure(.invalidCredential, .codeExpired, in: "signing in") {
                try await context.client.signIn(with: .phoneCode(verification, wrong))
            }
            try await context.expectSignedOut()
        },
        AuthCheck("what is no phone number is refused", needs: .phoneCodes) { context in
            try await context.expectFailure(.invalidArgument, in: "sending a code") {
                try await context.client.sendPhoneCode(to: "call me")
            }
        },
    ].within("codes and links")
}

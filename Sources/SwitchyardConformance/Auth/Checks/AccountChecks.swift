import Foundation
import Switchyard

extension AuthConformance {
    static let accountChecks: [AuthCheck] = [
        AuthCheck("a name and a picture can be set, and are known elsewhere") { context in
            try await context.signUp()
            let photo = URL(string: "https://example.com/alice.png")
            let user = try await context.client.updateAccount(AccountChanges(displayName: "Älice 😀", photoURL: photo))
            try expectEqual(user.displayName, "Älice 😀", "the name")
            try expectEqual(user.photoURL, photo, "the picture")
            try expectEqual(user.email, context.email(), "the address, which no one changed")
            let other = try await context.device()
            try await context.signIn(on: other)
            let same = try await other.reloadUser()
            try expectEqual(same.displayName, "Älice 😀", "the name on the other device")
            try expectEqual(same.photoURL, photo, "the picture on the other device")
        },
        AuthCheck("a change of the account is a new state") { context in
            try await context.signUp()
            let probe = context.watch()
            try await probe.newest("the user") { $0.isSignedIn }
            try await context.client.updateAccount(AccountChanges(displayName: "Alice"))
            try await probe.newest("the name") { $0.user?.displayName == "Alice" }
            try expectEqual(await context.client.currentUser?.displayName, "Alice", "the name of the current user")
        },
        AuthCheck("changing one thing leaves the others") { context in
            try await context.signUp()
            try await context.client.updateAccount(AccountChanges(displayName: "Alice"))
            let user = try await context.client.updateAccount(
                AccountChanges(photoURL: URL(string: "https://example.com/a")))
            try expectEqual(user.displayName, "Alice", "the name")
        },
        AuthCheck("a new password takes the place of the old one") { context in
            let user = try await context.signUp()
            try await context.client.changePassword(to: context.otherPassword)
            let other = try await context.device()
            try await context.expectFailure(.invalidCredential, in: "signing in with the old one") {
                try await context.signIn(on: other)
            }
            let same = try await other.signIn(email: context.email(), password: context.otherPassword)
            try expectEqual(same.id, user.id, "the user's name")
            try await context.expectSignedIn(user.id)
            _ = try await context.client.accessToken(refreshing: true)
        },
        AuthCheck("a weak new password is refused, and the old one stays") { context in
            try await context.signUp()
            try await context.expectFailure(.weakPassword, in: "the change") {
                try await context.client.changePassword(to: "abc")
            }
            try await context.signIn(on: context.device())
        },
        AuthCheck("a new address is asked for or takes effect, and the account stays the same") { context in
            let user = try await context.signUp()
            let result = try await context.client.changeEmail(to: context.email("renamed"))
            let now = try expectValue(try await context.client.reloadUser().email, "an address")
            let expected: String
            switch result {
            case .changed(let changed):
                try expectEqual(changed.id, user.id, "the user's name")
                expected = context.email("renamed")
            case .confirmationSent(let address):
                try expectEqual(address, context.email("renamed"), "where the mail went")
                expected = context.email()
            }
            try expectEqual(now, expected, "the address")
            let other = try await context.device()
            let same = try await other.signIn(email: now, password: context.password)
            try expectEqual(same.id, user.id, "the user's name")
        },
        AuthCheck("another account's address is refused") { context in
            try await context.signUp("bob")
            try await context.signUp("alice")
            try await context.expectFailure(.emailInUse, in: "the change") {
                try await context.client.changeEmail(to: context.email("bob"))
            }
            try expectEqual(try await context.client.reloadUser().email, context.email("alice"), "the address")
        },
        AuthCheck("without a session nothing about an account can be done") { context in
            try await context.expectFailure(.notSignedIn, in: "changing it") {
                try await context.client.updateAccount(AccountChanges(displayName: "x"))
            }
            try await context.expectFailure(.notSignedIn, in: "reloading it") { try await context.client.reloadUser() }
            try await context.expectFailure(.notSignedIn, in: "proving who one is") {
                try await context.client.reauthenticate(with: .password(email: context.email(), context.password))
            }
        },
        AuthCheck("who one is can be proved anew") { context in
            let user = try await context.signUp()
            try await context.client.reauthenticate(with: .password(email: context.email(), context.password))
            try await context.expectSignedIn(user.id)
            _ = try await context.client.accessToken()
        },
        AuthCheck("a proof that fails leaves the session") { context in
            let user = try await context.signUp()
            try await context.expectFailure(.invalidCredential, in: "the proof") {
                try await context.client.reauthenticate(with: .password(email: context.email(), context.otherPassword))
            }
            try await context.expectSignedIn(user.id)
            _ = try await context.client.accessToken(refreshing: true)
        },
        AuthCheck("another person's proof is no proof") { context in
            try await context.signUp("bob")
            let alice = try await context.signUp("alice")
            try await context.expectFailure(.invalidCredential, in: "the proof") {
                try await context.client.reauthenticate(with: .password(email: context.email("bob"), context.password))
            }
            try await context.expectSignedIn(alice.id)
        },
        AuthCheck("a deleted account is signed out and gone", needs: .deletion) { context in
            try await context.signUp()
            let probe = context.watch()
            try await probe.newest("the user") { $0.isSignedIn }
            try await context.client.deleteAccount()
            try await probe.newest("that the account is deleted") { state in
                if case .signedOut(let end) = state { end.reason == .accountDeleted } else { false }
            }
            try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await context.signIn()
            }
        },
        AuthCheck("the address of a deleted account is free again", needs: .deletion) { context in
            let first = try await context.signUp()
            try await context.client.deleteAccount()
            let second = try await context.signUp()
            try expect(first.id != second.id, "it is another account", found: "the same")
        },
        AuthCheck("an account deleted on one device is over on the others", needs: .deletion) { context in
            try await context.signUp()
            let other = try await context.device()
            try await context.signIn(on: other)
            try await context.client.deleteAccount()
            try await context.expectFailure(.sessionExpired, .userNotFound, in: "asking for a new token") {
                try await other.accessToken(refreshing: true)
            }
            try await context.expectSignedOut(on: other)
        },
        AuthCheck("without a session no account can be deleted", needs: .deletion) { context in
            try await context.expectFailure(.notSignedIn, in: "deleting it") {
                try await context.client.deleteAccount()
            }
        },
    ].within("account")

    static let anonymousChecks: [AuthCheck] = [
        AuthCheck("an anonymous account has no address, and tokens", needs: .anonymous) { context in
            let user = try await context.client.signInAnonymously()
            try expectEqual(user.isAnonymous, true, "whether the account is anonymous")
            try expectEqual(user.email, nil, "the address")
            try expectEqual(try await context.client.accessToken().userID, user.id, "whose token it is")
        },
        AuthCheck("two anonymous devices are two accounts", needs: .anonymous) { context in
            let one = try await context.client.signInAnonymously()
            let two = try await context.device().signInAnonymously()
            try expect(one.id != two.id, "they are two", found: "one")
        },
        AuthCheck("an anonymous account that gets a password stays the same account", needs: .anonymous, .linking) {
            context in
            let user = try await context.client.signInAnonymously()
            let linked = try await context.linkPassword()
            try expectEqual(linked.id, user.id, "the user's name")
            try expectEqual(linked.isAnonymous, false, "whether the account is anonymous")
            let other = try await context.device()
            try expectEqual(try await context.signIn(on: other).id, user.id, "the user's name on the other device")
        },
        AuthCheck("an anonymous account cannot take another's address", needs: .anonymous, .linking) { context in
            try await context.signUp(on: context.device())
            let user = try await context.client.signInAnonymously()
            try await context.expectFailure(.emailInUse, .identityInUse, in: "linking") {
                try await context.client.link(.password(email: context.email(), context.password))
            }
            try await context.expectSignedIn(user.id)
        },
    ].within("anonymous accounts")
}

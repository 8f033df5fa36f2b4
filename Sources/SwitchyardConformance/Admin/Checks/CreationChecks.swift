import Foundation
import Switchyard

extension AdminConformance {
    static let creationChecks: [AdminCheck] = [
        AdminCheck("an account is made with everything that was asked for") { context in
            let photo = URL(string: "https://example.com/alice.png")
            let made = try await context.create {
                $0.phoneNumber = context.phoneNumber()
                $0.displayName = "Älice 😀"
                $0.photoURL = photo
                $0.isDisabled = true
                $0.claims = ["role": "editor"]
            }
            let found = try await context.account(made.id)
            for account in [made, found] {
                try expectEqual(account.email, context.email(), "the address")
                try expectEqual(account.user.isEmailVerified, true, "whether the address is confirmed")
                try expectEqual(account.user.phoneNumber, context.phoneNumber(), "the number")
                try expectEqual(account.user.displayName, "Älice 😀", "the name")
                try expectEqual(account.user.photoURL, photo, "the picture")
                try expectEqual(account.isDisabled, true, "whether the account is disabled")
                try expectEqual(account.claims, ["role": "editor"], "the claims")
                try expectEqual(account.user.isAnonymous, false, "whether the account is anonymous")
            }
            try expect(
                found.user.identities.contains(.password), "the account has a password",
                found: "\(found.user.identities)")
        },
        AdminCheck("an account with an address alone has nothing else") { context in
            let made = try await context.create(NewAccount(email: context.email()))
            let found = try await context.account(made.id)
            for account in [made, found] {
                try expect(!account.id.isEmpty, "there is an ID", found: "an empty one")
                try expectEqual(account.email, context.email(), "the address")
                try expectEqual(account.user.isEmailVerified, false, "whether the address is confirmed")
                try expectEqual(account.user.phoneNumber, nil, "the number")
                try expectEqual(account.user.displayName, nil, "the name")
                try expectEqual(account.user.photoURL, nil, "the picture")
                try expectEqual(account.isDisabled, false, "whether the account is disabled")
                try expectEqual(account.claims, [:], "the claims")
            }
            try await context.expectShut(.invalidCredential, .emailNotConfirmed)
        },
        AdminCheck("an account is made of nothing at all", needs: .bareAccounts) { context in
            let one = try await context.create(NewAccount())
            let two = try await context.create(NewAccount())
            try expect(one.id != two.id && !one.id.isEmpty, "they are two", found: "one")
            let found = try await context.account(one.id)
            try expectEqual(found.email, nil, "the address")
            try expectEqual(found.user.phoneNumber, nil, "the number")
            try expectEqual(found.user.isAnonymous, false, "whether the account is anonymous")
        },
        AdminCheck("an account with a phone number alone is found by it") { context in
            let made = try await context.create(NewAccount(phoneNumber: context.phoneNumber()))
            let found = try await context.client.account(phoneNumber: context.phoneNumber())
            try expectEqual(found.id, made.id, "the ID")
            try expectEqual(found.email, nil, "the address")
        },
        AdminCheck("who was made signs in") { context in
            let made = try await context.create { $0.displayName = "Alice" }
            let device = try await context.device()
            let user = try await device.signIn(email: context.email(), password: context.password)
            try expectEqual(user.id, made.id, "the user's ID")
            try expectEqual(user.displayName, "Alice", "the name")
            try expectEqual(try await device.accessToken(refreshing: true).userID, made.id, "whose token it is")
            try await context.expectShut(.invalidCredential, password: context.otherPassword)
        },
        AdminCheck("passwords of accounts that are made hold any character") { context in
            let password: Secret = "pä ss\"w'o\\r%d+&=/?#😀"
            try await context.create { $0.password = password }
            _ = try await context.signedIn(password: password)
        },
        AdminCheck("an address is confirmed or not, as it was asked for") { context in
            let alice = try await context.create("alice")
            let bob = try await context.create("bob") { $0.isEmailVerified = false }
            try expectEqual(
                try await context.account(alice.id).user.isEmailVerified, true, "whether the one is confirmed")
            try expectEqual(
                try await context.account(bob.id).user.isEmailVerified, false, "whether the other is confirmed")
            let device = try await context.signedIn("alice")
            try expectEqual(await device.currentUser?.isEmailVerified, true, "whether the owner sees it so")
            if context.features.asksForConfirmation {
                try await context.expectShut(.emailNotConfirmed, for: "bob")
            } else {
                let other = try await context.signedIn("bob")
                try expectEqual(await other.currentUser?.isEmailVerified, false, "whether the owner sees it so")
            }
        },
        AdminCheck("an account is made with an ID of one's own", needs: .ownIDs) { context in
            let id = context.newID()
            let made = try await context.create { $0.id = id }
            try expectEqual(made.id, id, "the ID")
            try expectEqual(try await context.client.account(email: context.email()).id, id, "the ID found")
            let device = try await context.signedIn()
            try expectEqual(await device.currentUser?.id, id, "who is signed in")
        },
        AdminCheck("a taken ID is refused, and its account stays", needs: .ownIDs) { context in
            let made = try await context.create("alice") { $0.id = context.newID() }
            try await context.expectFailure(.identityInUse, in: "taking the ID") {
                try await context.create("bob") { $0.id = made.id }
            }
            try expectEqual(try await context.account(made.id).email, context.email("alice"), "the address")
            try expectEqual(try await context.client.accounts([.email(context.email("bob"))]), [nil], "the other")
        },
        AdminCheck("what can be no ID is refused") { context in
            try await context.expectFailure(.invalidArgument, in: "making an account") {
                try await context.create { $0.id = "" }
            }
            try await context.expectFailure(.invalidArgument, in: "making an account") {
                try await context.create { $0.id = String(repeating: "a", count: 2000) }
            }
            try expectEqual(try await context.client.accounts([.email(context.email())]), [nil], "what was made")
        },
        AdminCheck("a taken address is refused, in any case") { context in
            let made = try await context.create()
            try await context.expectFailure(.emailInUse, in: "making another account") { try await context.create() }
            try await context.expectFailure(.emailInUse, in: "making another account") {
                try await context.create { $0.email = context.email().uppercased() }
            }
            try expectEqual(try await context.client.account(email: context.email()).id, made.id, "whose it is")
        },
        AdminCheck("a taken phone number is refused") { context in
            let made = try await context.create("alice") { $0.phoneNumber = context.phoneNumber() }
            try await context.expectFailure(.identityInUse, in: "making another account") {
                try await context.create("bob") { $0.phoneNumber = context.phoneNumber() }
            }
            try expectEqual(
                try await context.client.account(phoneNumber: context.phoneNumber()).id, made.id, "whose it is")
        },
        AdminCheck("a weak password makes no account") { context in
            try await context.expectFailure(.weakPassword, in: "making an account") {
                try await context.create { $0.password = "abc" }
            }
            try expectEqual(try await context.client.accounts([.email(context.email())]), [nil], "what was made")
        },
        AdminCheck("what is no address and what is no number make no account") { context in
            for text in ["", "alice", "alice@", "@example.com"] {
                try await context.expectFailure(.invalidArgument, in: "making an account with “\(text)”") {
                    try await context.create { $0.email = text }
                }
            }
            for text in ["", "call me", "5550100"] {
                try await context.expectFailure(.invalidArgument, in: "making an account with “\(text)”") {
                    try await context.create { $0.phoneNumber = text }
                }
            }
            try expectEqual(try await context.client.accounts([.email(context.email())]), [nil], "what was made")
        },
    ].within("making")
}

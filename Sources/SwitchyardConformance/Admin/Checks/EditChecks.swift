import Foundation
import Switchyard

extension AdminConformance {
    static let editChecks: [AdminCheck] = [
        edit("the address alone") { context, account in
            account.email = context.email("renamed")
            // It is not specified whether a new address counts as confirmed.
            account.isEmailVerified = nil
            return AccountEdit(email: context.email("renamed"))
        },
        edit("the phone number alone") { context, account in
            account.phoneNumber = context.phoneNumber(1)
            return AccountEdit(phoneNumber: context.phoneNumber(1))
        },
        edit("the password alone") { context, _ in AccountEdit(password: context.otherPassword) },
        edit("the name alone") { _, account in
            account.displayName = "Älice 😀"
            return AccountEdit(displayName: "Älice 😀")
        },
        edit("the empty name, which takes the name away") { _, account in
            account.displayName = nil
            return AccountEdit(displayName: "")
        },
        edit("the picture alone") { _, account in
            account.photoURL = URL(string: "https://example.com/other.png?size=2")
            return AccountEdit(photoURL: account.photoURL)
        },
        edit("whether it is disabled alone") { _, account in
            account.isDisabled = true
            return AccountEdit(isDisabled: true)
        },
        edit("the claims alone") { _, account in
            account.claims = ["level": 2]
            return AccountEdit(claims: ["level": 2])
        },
        edit("several things at once") { context, account in
            account.email = context.email("renamed")
            account.displayName = "Alicia"
            account.phoneNumber = context.phoneNumber(2)
            account.claims = [:]
            return AccountEdit(
                email: context.email("renamed"), isEmailVerified: true, phoneNumber: context.phoneNumber(2),
                displayName: "Alicia", claims: [:])
        },
        edit("nothing at all") { _, _ in AccountEdit() },
        edit("the address it has, in capitals") { context, _ in
            AccountEdit(email: context.email().uppercased(), isEmailVerified: true)
        },
        AdminCheck("an address is confirmed by hand") { context in
            let made = try await context.create { $0.isEmailVerified = false }
            try await context.client.update(made.id, AccountEdit(isEmailVerified: true))
            try expectEqual(try await context.account(made.id).user.isEmailVerified, true, "whether it is confirmed")
            let device = try await context.signedIn()
            try expectEqual(await device.currentUser?.isEmailVerified, true, "whether the owner sees it so")
        },
        AdminCheck("an address stops being confirmed by hand", needs: .unconfirming) { context in
            let made = try await context.create()
            try await context.client.update(made.id, AccountEdit(isEmailVerified: false))
            try expectEqual(try await context.account(made.id).user.isEmailVerified, false, "whether it is confirmed")
        },
        AdminCheck("who is edited sees it") { context in
            let made = try await context.create()
            let device = try await context.signedIn()
            try await context.client.update(made.id, AccountEdit(displayName: "Alice the Second"))
            try expectEqual(try await device.reloadUser().displayName, "Alice the Second", "the name")
        },
        AdminCheck("a new address lets in, and the old one does not") { context in
            let made = try await context.create()
            try await context.client.update(
                made.id, AccountEdit(email: context.email("renamed"), isEmailVerified: true))
            let device = try await context.signedIn("renamed")
            try expectEqual(await device.currentUser?.id, made.id, "who is signed in")
            try await context.expectShut(.invalidCredential)
            try expectEqual(try await context.client.accounts([.email(context.email())]), [nil], "the old address")
            let other = try await context.create()
            try expect(other.id != made.id, "the old address is free for another account", found: "the same")
        },
        AdminCheck("a new password lets in, and the old one does not") { context in
            let made = try await context.create()
            try await context.client.update(made.id, AccountEdit(password: context.otherPassword))
            try await context.expectShut(.invalidCredential)
            let device = try await context.signedIn(password: context.otherPassword)
            try expectEqual(await device.currentUser?.id, made.id, "who is signed in")
        },
        AdminCheck("an account without a password is given one") { context in
            let made = try await context.create { $0.password = nil }
            try await context.expectShut(.invalidCredential)
            try await context.client.update(made.id, AccountEdit(password: context.password))
            let device = try await context.signedIn()
            try expectEqual(await device.currentUser?.id, made.id, "who is signed in")
        },
        AdminCheck("a weak new password of another's choice is refused, and the old one stays") { context in
            let made = try await context.create()
            try await context.expectFailure(.weakPassword, in: "the edit") {
                try await context.client.update(made.id, AccountEdit(password: "abc"))
            }
            _ = try await context.signedIn()
        },
        AdminCheck("an edit with a taken address changes nothing") { context in
            try await context.create("bob")
            let made = try await context.create { $0.displayName = "Alice" }
            try await context.expectFailure(.emailInUse, in: "the edit") {
                try await context.client.update(
                    made.id, AccountEdit(email: context.email("bob"), displayName: "Eve", claims: ["role": "x"]))
            }
            let found = try await context.account(made.id)
            try expectEqual(found.email, context.email(), "the address")
            try expectEqual(found.user.displayName, "Alice", "the name")
            try expectEqual(found.claims, [:], "the claims")
        },
        AdminCheck("an edit with a taken phone number is refused") { context in
            try await context.create("bob") { $0.phoneNumber = context.phoneNumber() }
            let made = try await context.create()
            try await context.expectFailure(.identityInUse, in: "the edit") {
                try await context.client.update(made.id, AccountEdit(phoneNumber: context.phoneNumber()))
            }
            try expectEqual(try await context.account(made.id).user.phoneNumber, nil, "the number")
        },
        AdminCheck("an edit with what is no address or no number changes nothing") { context in
            let made = try await context.create()
            let edits = [
                AccountEdit(email: "alice", displayName: "x"), AccountEdit(phoneNumber: "call me", displayName: "x"),
            ]
            for edit in edits {
                try await context.expectFailure(.invalidArgument, in: "the edit") {
                    try await context.client.update(made.id, edit)
                }
            }
            let found = try await context.account(made.id)
            try expectEqual(found.email, context.email(), "the address")
            try expectEqual(found.user.displayName, nil, "the name")
        },
        AdminCheck("who is not there cannot be edited") { context in
            for id in [context.newID(), "no ID of anybody's"] {
                try await context.expectFailure(.userNotFound, in: "the edit") {
                    try await context.client.update(id, AccountEdit(displayName: "Alice"))
                }
            }
        },
    ].within("edits")

    /// A check that an edit changes only what it contains.
    ///
    /// - Parameter change: Returns the edit, and applies its expected effect to the account.
    private static func edit(
        _ what: String, _ change: @escaping @Sendable (AdminContext, inout Looks) -> AccountEdit
    ) -> AdminCheck {
        AdminCheck("an edit leaves what it does not name: \(what)") { context in
            let made = try await context.create {
                $0.phoneNumber = context.phoneNumber()
                $0.displayName = "Alice"
                $0.photoURL = URL(string: "https://example.com/alice.png")
                $0.claims = ["role": "editor", "tags": ["a"]]
            }
            let neighbour = try await context.create("bob") { $0.displayName = "Bob" }
            var expected = Looks(made)
            let edit = change(context, &expected)
            let edited = try await context.client.update(made.id, edit)
            try expectEqual(edited.id, made.id, "the ID")
            for account in [edited, try await context.account(made.id)] {
                var found = Looks(account)
                if expected.isEmailVerified == nil { found.isEmailVerified = nil }
                try expectEqual(found, expected, "the account")
            }
            try expectEqual(Looks(try await context.account(neighbour.id)), Looks(neighbour), "somebody else's")
            let password = edit.password ?? context.password
            if expected.isDisabled {
                try await context.expectShut(.userDisabled, password: password)
            } else if expected.isEmailVerified == true {
                let device = try await context.device()
                let user = try await device.signIn(email: expected.email ?? "", password: password)
                try expectEqual(user.id, made.id, "who is signed in")
            }
        }
    }

    /// Everything that an edit can change, except the password.
    private struct Looks: Equatable {
        var email: String?
        var isEmailVerified: Bool?
        var phoneNumber: String?
        var displayName: String?
        var photoURL: URL?
        var isDisabled: Bool
        var claims: [String: DocumentValue]

        init(_ account: ManagedAccount) {
            email = account.email?.lowercased()
            isEmailVerified = account.user.isEmailVerified
            phoneNumber = account.user.phoneNumber
            displayName = account.user.displayName
            photoURL = account.user.photoURL
            isDisabled = account.isDisabled
            claims = account.claims
        }
    }
}

import Switchyard

extension AuthConformance {
    /// Addresses that have to be confirmed by email.
    static let confirmationChecks: [AuthCheck] = [
        AuthCheck("signing up sends a confirmation, and signs no one in", needs: .confirmation) { context in
            let result = try await context.client.signUp(email: context.email(), password: context.password)
            try expectEqual(result, .confirmationSent(to: context.email()), "what signing up came to")
            try await context.expectSignedOut()
            try await context.expectFailure(.emailNotConfirmed, in: "signing in too early") {
                try await context.signIn()
            }
            try await context.expectFailure(.invalidCredential, in: "signing in with a wrong password") {
                try await context.client.signIn(email: context.email(), password: context.otherPassword)
            }
            try await context.expectSignedOut()
        },
        AuthCheck("signing up leaves the current session where an address waits", needs: .confirmation) { context in
            let bob = try await context.signUp("bob")
            _ = try await context.client.signUp(email: context.email(), password: context.password)
            try await context.expectSignedIn(bob.id)
        },
        AuthCheck("the link of the confirmation signs in", needs: .confirmation) { context in
            try await context.client.signUp(email: context.email(), password: context.password)
            let link = try await context.harness.confirmationLink(for: context.email())
            let user = try await context.client.signIn(with: .emailLink(email: context.email(), link))
            try expectEqual(user.email, context.email(), "the address")
            try expect(user.isEmailVerified, "the address is confirmed", found: "it is not")
            try expect(user.identities.contains(.password), "the account has a password", found: "\(user.identities)")
            try await context.expectSignedIn(user.id)
            let other = try await context.device()
            try expectEqual(try await context.signIn(on: other).id, user.id, "the user's name on the other device")
        },
        AuthCheck("the link of the confirmation works once", needs: .confirmation) { context in
            try await context.client.signUp(email: context.email(), password: context.password)
            let link = try await context.harness.confirmationLink(for: context.email())
            try await context.client.signIn(with: .emailLink(email: context.email(), link))
            let other = try await context.device()
            try await context.expectFailure(.codeExpired, .invalidCredential, in: "using it again") {
                try await other.signIn(with: .emailLink(email: context.email(), link))
            }
            try await context.expectSignedOut(on: other)
        },
        AuthCheck("a confirmation is sent again", needs: .confirmation) { context in
            try await context.client.signUp(email: context.email(), password: context.password)
            let first = try await context.harness.confirmationLink(for: context.email())
            try await context.client.resendConfirmation(to: context.email())
            let second = try await context.harness.confirmationLink(for: context.email())
            try expect(first != second, "there is another mail", found: "the first one only")
            let user = try await context.client.signIn(with: .emailLink(email: context.email(), second))
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("no one learns from a confirmation whether an address has an account", needs: .confirmation) {
            context in
            try await context.client.resendConfirmation(to: context.email("missing"))
            try await context.signUp()
            try await context.device().resendConfirmation(to: context.email())
        },
        AuthCheck("signing up again sends another mail, and the first password stays", needs: .confirmation) {
            context in
            try await context.client.signUp(email: context.email(), password: context.password)
            let other = try await context.device()
            let again = try await other.signUp(email: context.email(), password: context.otherPassword)
            try expectEqual(again, .confirmationSent(to: context.email()), "what signing up again came to")
            try await context.harness.confirmEmail(context.email())
            try await context.expectFailure(.invalidCredential, in: "signing in with the second password") {
                try await other.signIn(email: context.email(), password: context.otherPassword)
            }
            try await context.signIn()
        },
        AuthCheck("a new address counts once its mail was opened", needs: .confirmedChanges) { context in
            let user = try await context.signUp()
            let new = context.email("renamed")
            let result = try await context.client.changeEmail(to: new)
            try expectEqual(result, .confirmationSent(to: new), "what the change came to")
            try expectEqual(try await context.client.reloadUser().email, context.email(), "the address until then")
            let other = try await context.device()
            try await context.signIn(on: other)
            try await context.harness.confirmChange(from: context.email(), to: new)
            try expectEqual(try await context.client.reloadUser().email, new, "the address from then on")
            let third = try await context.device()
            try expectEqual(
                try await third.signIn(email: new, password: context.password).id, user.id, "the user's name")
            try await context.expectFailure(.invalidCredential, in: "signing in with the old address") {
                try await context.signIn(on: context.device())
            }
        },
    ].within("confirmations")
}

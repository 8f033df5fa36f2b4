import Foundation
import Switchyard
import SwitchyardBytes

extension AdminConformance {
    static let linkChecks: [AdminCheck] = [
        AdminCheck("a link to a new password replaces the old one, once", needs: .passwordResetLinks) { context in
            let made = try await context.create()
            let link = try await context.client.link(.passwordReset, for: context.email())
            let code = try await context.harness.resetCode(in: link)
            try await context.device().resetPassword(code: code, newPassword: context.otherPassword)
            try await context.expectShut(.invalidCredential)
            let device = try await context.signedIn(password: context.otherPassword)
            try expectEqual(await device.currentUser?.id, made.id, "who is signed in")
            try await context.expectFailure(.codeExpired, .invalidCredential, in: "using it again") {
                try await context.device().resetPassword(code: code, newPassword: context.password)
            }
            try await context.expectShut(.invalidCredential)
        },
        AdminCheck("a link to a new password gives an account without one its first", needs: .passwordResetLinks) {
            context in
            let made = try await context.create { $0.password = nil }
            let link = try await context.client.link(.passwordReset, for: context.email())
            let code = try await context.harness.resetCode(in: link)
            try await context.device().resetPassword(code: code, newPassword: context.password)
            let device = try await context.signedIn()
            try expectEqual(await device.currentUser?.id, made.id, "who is signed in")
        },
        AdminCheck("a link that confirms the address does so when it is opened", needs: .confirmationLinks) { context in
            let made = try await context.create { $0.isEmailVerified = false }
            let link = try await context.client.link(.emailConfirmation, for: context.email())
            try expectEqual(
                try await context.account(made.id).user.isEmailVerified, false, "whether it is confirmed before")
            try await context.harness.openConfirmation(link, for: context.email())
            try expectEqual(
                try await context.account(made.id).user.isEmailVerified, true, "whether it is confirmed")
            _ = try await context.signedIn()
        },
        AdminCheck("a link that signs in does so, once", needs: .signInLinks) { context in
            let made = try await context.create()
            let link = try await context.harness.signInLink(
                behind: context.client.link(.signIn, for: context.email(), redirectURL: context.features.redirectURL))
            let device = try await context.device()
            let user = try await device.signIn(with: .emailLink(email: context.email(), link))
            try expectEqual(user.id, made.id, "the user's ID")
            try expectEqual(try await device.accessToken(refreshing: true).userID, made.id, "whose token it is")
            let other = try await context.device()
            try await context.expectFailure(.codeExpired, .invalidCredential, in: "using it again") {
                try await other.signIn(with: .emailLink(email: context.email(), link))
            }
        },
        AdminCheck("a link that signs in is good for its address only", needs: .signInLinks) { context in
            try await context.create("alice")
            try await context.create("bob")
            let link = try await context.harness.signInLink(
                behind: context.client.link(
                    .signIn, for: context.email("alice"), redirectURL: context.features.redirectURL))
            let device = try await context.device()
            try await context.expectFailure(.invalidCredential, in: "signing in with another address") {
                try await device.signIn(with: .emailLink(email: context.email("bob"), link))
            }
            try expectEqual(await device.currentUser, nil, "who is signed in")
        },
        AdminCheck("a link leads to the given address", needs: .anyLinks) { context in
            let redirect = context.features.redirectURL
            try await context.create { $0.isEmailVerified = false }
            for kind in context.kinds {
                let link = try await context.client.link(kind, for: context.email(), redirectURL: redirect)
                let text = PercentCoding.decode(link.absoluteString) ?? ""
                try expect(
                    text.includes(redirect.absoluteString), "a link of the kind “\(kind)” names the address",
                    found: "another in a link to \(link.host() ?? "")")
                try expect(
                    ["http", "https"].contains(link.scheme ?? ""), "a browser opens it", found: link.scheme ?? "nothing"
                )
            }
        },
        AdminCheck("a link finds its account however the address is written", needs: .anyLinks) { context in
            try await context.create { $0.isEmailVerified = false }
            for kind in context.kinds {
                let link = try await context.client.link(
                    kind, for: context.email().uppercased(), redirectURL: context.features.redirectURL)
                try expect(link.host()?.isEmpty == false, "it leads somewhere", found: "nowhere")
            }
        },
        AdminCheck("making links changes nothing about the account", needs: .anyLinks) { context in
            let made = try await context.create {
                $0.displayName = "Alice"
                $0.claims = ["role": "editor"]
            }
            for kind in context.kinds where kind != .emailConfirmation {
                _ = try await context.client.link(
                    kind, for: context.email(), redirectURL: context.features.redirectURL)
            }
            let found = try await context.account(made.id)
            try expectEqual(found.user.displayName, "Alice", "the name")
            try expectEqual(found.user.isEmailVerified, true, "whether the address is confirmed")
            try expectEqual(found.claims, ["role": "editor"], "the claims")
            _ = try await context.signedIn()
        },
        AdminCheck("there are no links for an address that no one has", needs: .anyLinks) { context in
            for kind in context.kinds {
                let error = try await context.expectFailure(.userNotFound, in: "a link of the kind “\(kind)”") {
                    try await context.client.link(
                        kind, for: context.email("missing"), redirectURL: context.features.redirectURL)
                }
                try expect(
                    !error.description.includes(context.email("missing")), "the error does not reveal the address",
                    found: "it does")
            }
            try expectEqual(
                try await context.client.accounts([.email(context.email("missing"))]), [nil], "who was made by that")
        },
    ].within("links")
}

extension AdminContext {
    /// The supported kinds of links, in a stable order.
    fileprivate var kinds: [AccountLink] { AccountLink.allCases.filter(features.capabilities.links.contains) }
}

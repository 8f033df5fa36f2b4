import Foundation
import Switchyard

extension AdminConformance {
    static let sessionChecks: [AdminCheck] = [
        AdminCheck("ending sessions ends those of all devices, until the next sign-in", needs: .endingSessions) {
            context in
            let made = try await context.create()
            let devices = [try await context.signedIn(), try await context.signedIn()]
            for device in devices { _ = try await device.accessToken(refreshing: true) }
            try await context.harness.letTimePass()
            try await context.client.endSessions(of: made.id)
            for device in devices {
                try await context.expectFailure(.sessionExpired, in: "asking for a new token") {
                    try await device.accessToken(refreshing: true)
                }
                let user = await device.currentUser
                try expectEqual(user?.id, nil, "who is signed in")
            }
            try await context.harness.letTimePass()
            let again = try await context.signedIn()
            try expectEqual(try await again.accessToken(refreshing: true).userID, made.id, "whose token it is")
        },
        AdminCheck("ending one's sessions leaves everybody else's", needs: .endingSessions) { context in
            let alice = try await context.create("alice")
            let bob = try await context.create("bob")
            let device = try await context.signedIn("bob")
            try await context.harness.letTimePass()
            try await context.client.endSessions(of: alice.id)
            try expectEqual(try await device.accessToken(refreshing: true).userID, bob.id, "whose token it is")
        },
        AdminCheck("ending the sessions of somebody without one is no error", needs: .endingSessions) { context in
            let made = try await context.create()
            try await context.client.endSessions(of: made.id)
            try await context.client.endSessions(of: made.id)
            try expectEqual(try await context.account(made.id).isDisabled, false, "whether the account is disabled")
        },
        AdminCheck("who is not there has no sessions to end", needs: .endingSessions) { context in
            for id in [context.newID(), "no ID of anybody's"] {
                try await context.expectFailure(.userNotFound, in: "ending them") {
                    try await context.client.endSessions(of: id)
                }
            }
        },
    ].within("ending sessions")

    static let tokenChecks: [AdminCheck] = [
        AdminCheck("a custom token signs in as the one it was made for", needs: .customTokens) { context in
            let made = try await context.create { $0.displayName = "Alice" }
            let device = try await context.device()
            let user = try await device.signIn(with: .customToken(context.client.customToken(for: made.id)))
            try expectEqual(user.id, made.id, "the user's ID")
            let token = try await device.accessToken(refreshing: true)
            try expectEqual(token.userID, made.id, "whose token it is")
            try expectEqual(try await device.reloadUser().displayName, "Alice", "the name")
        },
        AdminCheck("a custom token for somebody new makes the account", needs: .customTokens) { context in
            let id = context.newID()
            let token = try await context.client.customToken(for: id)
            try await context.expectMissing(id)
            let user = try await context.device().signIn(with: .customToken(token))
            try expectEqual(user.id, id, "the user's ID")
            let found = try await context.account(id)
            try expectEqual(found.email, nil, "the address")
            try expectEqual(found.claims, [:], "the claims")
        },
        AdminCheck(
            "claims of a custom token show in the session's tokens, and are not the account's",
            needs: .customTokens, .readTokens
        ) { context in
            let made = try await context.create { $0.claims = ["own": "kept", "level": 1] }
            let token = try await context.client.customToken(
                for: made.id, claims: ["tenant": "acme", "limits": ["seats": 3], "trial": true])
            let device = try await context.device()
            try await device.signIn(with: .customToken(token))
            for isRefreshing in [false, true] {
                let claims = try await context.harness.claims(of: device.accessToken(refreshing: isRefreshing))
                try expectEqual(claims["tenant"], "acme", "the text")
                try expectEqual(claims["limits"], ["seats": 3], "the map")
                try expectEqual(claims["trial"], true, "the truth value")
                try expectEqual(claims["own"], "kept", "the account's claim")
            }
            let found = try await context.account(made.id)
            try expectEqual(found.claims, ["own": "kept", "level": 1], "the account's claims")
            let other = try await context.harness.claims(of: context.signedIn().accessToken())
            try expectEqual(other["tenant"], nil, "the claim in another session")
        },
        AdminCheck("a custom token for somebody disabled lets no one in", needs: .customTokens) { context in
            let made = try await context.create { $0.isDisabled = true }
            let token = try await context.client.customToken(for: made.id)
            let device = try await context.device()
            try await context.expectFailure(.userDisabled, in: "signing in") {
                try await device.signIn(with: .customToken(token))
            }
        },
        AdminCheck("a custom token that was altered is refused", needs: .customTokens, .checkedSignatures) { context in
            let made = try await context.create()
            let token = try await context.client.customToken(for: made.id).reveal()
            let device = try await context.device()
            try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await device.signIn(with: .customToken(Secret(String(token.dropLast(8)) + "AAAAAAAA")))
            }
        },
        AdminCheck("custom tokens for no one, or with claims that no token can hold, are refused", needs: .customTokens)
        {
            context in
            try await context.expectFailure(.invalidArgument, in: "making one for no one") {
                try await context.client.customToken(for: "")
            }
            try await context.expectFailure(.invalidArgument, in: "making one with bytes in it") {
                try await context.client.customToken(for: context.newID(), claims: ["thing": .bytes(.init([1]))])
            }
        },
    ].within("custom tokens")
}

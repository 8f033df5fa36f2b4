import Foundation
import Switchyard

extension AdminConformance {
    private static let everyKind: [String: DocumentValue] = [
        "role": "editor", "level": 3, "share": 1.5, "debt": -7, "isStaff": true, "isGuest": false,
        "tags": ["a", "b", 3], "none": [], "team": ["name": "Ä", "seats": ["front": 2, "back": ["left", "right"]]],
    ]

    static let claimChecks: [AdminCheck] = [
        AdminCheck("claims of every kind that JSON has are kept") { context in
            let made = try await context.create { $0.claims = everyKind }
            try expectEqual(made.claims, everyKind, "the claims at first")
            try expectEqual(try await context.account(made.id).claims, everyKind, "the claims")
        },
        AdminCheck("new claims take the place of all that there are") { context in
            let made = try await context.create { $0.claims = everyKind }
            let edited = try await context.client.update(made.id, AccountEdit(claims: ["role": "owner", "new": 1]))
            try expectEqual(edited.claims, ["role": "owner", "new": 1], "the claims at first")
            try expectEqual(
                try await context.account(made.id).claims, ["role": "owner", "new": 1], "the claims")
            try expectEqual(edited.email, context.email(), "the address, which no one changed")
        },
        AdminCheck("claims are emptied") { context in
            let made = try await context.create { $0.claims = everyKind }
            try await context.client.setClaims([:], of: made.id)
            try expectEqual(try await context.account(made.id).claims, [:], "the claims")
        },
        AdminCheck("claims within a claim are replaced with it") { context in
            let made = try await context.create { $0.claims = ["team": ["name": "red", "seats": 2]] }
            try await context.client.setClaims(["team": ["name": "blue"]], of: made.id)
            try expectEqual(try await context.account(made.id).claims, ["team": ["name": "blue"]], "the claims")
        },
        AdminCheck("values that no token can hold are refused, and the claims stay") { context in
            let made = try await context.create { $0.claims = ["role": "editor"] }
            for value in [.bytes(Data([1])), .array([.timestamp(Timestamp(Date()))]), ["in": .double(.nan)]]
                as [DocumentValue]
            {
                try await context.expectFailure(.invalidArgument, in: "setting it") {
                    try await context.client.setClaims(["thing": value], of: made.id)
                }
            }
            try expectEqual(try await context.account(made.id).claims, ["role": "editor"], "the claims")
        },
        AdminCheck("claims show in the tokens of the account", needs: .readTokens) { context in
            try await context.create { $0.claims = everyKind }
            let token = try await context.signedIn().accessToken()
            let claims = try await context.harness.claims(of: token)
            for (name, value) in everyKind { try expectEqual(claims[name], value, "the claim “\(name)”") }
        },
        AdminCheck("changed claims show once the token is refreshed", needs: .readTokens) { context in
            let made = try await context.create { $0.claims = ["role": "editor", "old": true] }
            let device = try await context.signedIn()
            try await context.client.setClaims(["role": "owner"], of: made.id)
            let claims = try await context.harness.claims(of: device.accessToken(refreshing: true))
            try expectEqual(claims["role"], "owner", "the claim that was changed")
            try expectEqual(claims["old"], nil, "the claim that was left out")
            try await context.client.setClaims([:], of: made.id)
            let emptied = try await context.harness.claims(of: device.accessToken(refreshing: true))
            // A provider may set its own role for all users.
            try expect(emptied["role"] != "owner", "the claim is gone", found: "it shows")
        },
        AdminCheck("claims are no one else's", needs: .readTokens) { context in
            try await context.create("alice") { $0.claims = ["isStaff": true] }
            try await context.create("bob")
            let claims = try await context.harness.claims(of: context.signedIn("bob").accessToken())
            try expectEqual(claims["isStaff"], nil, "the other's claim")
        },
    ].within("claims")
}

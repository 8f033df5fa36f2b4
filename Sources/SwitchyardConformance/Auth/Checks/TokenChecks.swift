import Foundation
import Switchyard

extension AuthConformance {
    static let tokenChecks: [AuthCheck] = [
        AuthCheck("without a session there is no token") { context in
            try await context.expectFailure(.notSignedIn, in: "asking for a token") {
                try await context.client.accessToken()
            }
            try await context.expectFailure(.notSignedIn, in: "asking for a new token") {
                try await context.client.accessToken(refreshing: true)
            }
        },
        AuthCheck("a token belongs to the user and is good for a while") { context in
            let user = try await context.signUp()
            let token = try await context.client.accessToken()
            try expect(!token.value.isEmpty, "the token is not empty", found: "an empty one")
            try expectEqual(token.userID, user.id, "whose token it is")
            try expect(token.expiresAt > Timestamp(Date()), "it is not over yet", found: "it is")
        },
        AuthCheck("a token that is good is given again") { context in
            try await context.signUp()
            let first = try await context.client.accessToken()
            try expect(try await context.client.accessToken() == first, "it is the same token", found: "another one")
        },
        AuthCheck("a new token lasts no less than the old one") { context in
            let user = try await context.signUp()
            let first = try await context.client.accessToken()
            let second = try await context.client.accessToken(refreshing: true)
            try expect(second.expiresAt >= first.expiresAt, "it ends no earlier", found: "it does")
            try expectEqual(second.userID, user.id, "whose token it is")
            try expect(
                try await context.client.accessToken() == second, "it is the one given from then on",
                found: "another one")
        },
        AuthCheck("a token that has run out is renewed by itself", needs: .ageing) { context in
            try await context.signUp()
            let first = try await context.client.accessToken()
            try await context.harness.expireAccessToken(of: context.client)
            let second = try await context.client.accessToken()
            try expect(second.expiresAt > first.expiresAt, "the new token lasts longer", found: "it does not")
        },
        AuthCheck("many who ask for a new token at once leave the session whole") { context in
            let user = try await context.signUp()
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<16 { group.addTask { try await context.client.accessToken(refreshing: true) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try expect(tokens.allSatisfy { $0.userID == user.id }, "every token is the user's", found: "some are not")
            try await context.expectSignedIn(user.id)
            _ = try await context.client.accessToken(refreshing: true)
        },
        AuthCheck("many who ask when the token has run out get one and the same", needs: .ageing) { context in
            try await context.signUp()
            try await context.harness.expireAccessToken(of: context.client)
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<16 { group.addTask { try await context.client.accessToken() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try expectEqual(Set(tokens.map(\.value)).count, 1, "the number of different tokens")
        },
        AuthCheck("signing out is stronger than a new token under way") { context in
            try await context.signUp()
            for _ in 0..<5 {
                let refresh = Task { try await context.client.accessToken(refreshing: true) }
                try await context.client.signOut()
                do {
                    _ = try await refresh.value
                } catch let error as AuthError {
                    try expect(
                        [.sessionChanged, .notSignedIn, .cancelled].contains(error.code),
                        "the refresh fails with sessionChanged or notSignedIn", found: error.description)
                }
                try await context.expectSignedOut()
                try await context.signIn()
            }
        },
        AuthCheck("a token under way is never another user's") { context in
            let bob = try await context.signUp("bob")
            let alice = try await context.signUp("alice")
            for round in 0..<6 {
                let (present, next, name) = round.isMultiple(of: 2) ? (alice, bob, "bob") : (bob, alice, "alice")
                let refresh = Task { try await context.client.accessToken(refreshing: true) }
                try await context.signIn(name)
                do {
                    let token = try await refresh.value
                    try expect(
                        token.userID == present.id || token.userID == next.id, "the token is one of theirs",
                        found: "a third one's")
                } catch let error as AuthError {
                    try expect(
                        [.sessionChanged, .cancelled].contains(error.code), "the refresh fails with sessionChanged",
                        found: error.description)
                }
                try await context.expectSignedIn(next.id)
                try expectEqual(try await context.client.accessToken().userID, next.id, "whose token it is now")
            }
        },
        AuthCheck("a session that the server ended is expired, and its user known", needs: .endedSessions) { context in
            let user = try await context.signUp()
            let probe = context.watch()
            try await probe.newest("the user") { $0.isSignedIn }
            try await context.harness.endSessions(of: user)
            try await context.expectFailure(.sessionExpired, in: "asking for a new token") {
                try await context.client.accessToken(refreshing: true)
            }
            try await probe.newest("that the session is over") { state in
                switch state {
                case .expired(let last): last.id == user.id
                case .signedOut(let end): end.reason == .byServer
                default: false
                }
            }
            try await context.signIn()
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("an account that was barred gets no tokens and no session", needs: .disabling) { context in
            let user = try await context.signUp()
            try await context.harness.disable(user)
            try await context.expectFailure(.userDisabled, .sessionExpired, in: "asking for a new token") {
                try await context.client.accessToken(refreshing: true)
            }
            let other = try await context.device()
            try await context.expectFailure(.userDisabled, in: "signing in") { try await context.signIn(on: other) }
        },
    ].within("tokens")

    static let deviceChecks: [AuthCheck] = [
        AuthCheck("sessions of two devices are two") { context in
            let user = try await context.signUp()
            let other = try await context.device()
            try await context.signIn(on: other)
            try await context.client.signOut()
            try await context.expectSignedIn(user.id, on: other)
            try expectEqual(try await other.accessToken(refreshing: true).userID, user.id, "whose token it is")
        },
        AuthCheck("two devices may have two users") { context in
            let other = try await context.device()
            let alice = try await context.signUp("alice")
            let bob = try await context.signUp("bob", on: other)
            try await context.expectSignedIn(alice.id)
            try await context.expectSignedIn(bob.id, on: other)
            try expect(
                try await context.client.accessToken().value != other.accessToken().value, "their tokens differ",
                found: "the same token")
        },
        AuthCheck("signing out everywhere ends the sessions of all devices", needs: .elsewhere) { context in
            try await context.signUp()
            let other = try await context.device()
            try await context.signIn(on: other)
            try await context.client.signOut(.everywhere)
            try await context.expectSignedOut()
            try await context.expectFailure(.sessionExpired, in: "asking for a new token on the other device") {
                try await other.accessToken(refreshing: true)
            }
            try await context.expectSignedOut(on: other)
        },
        AuthCheck("signing out the others leaves this session", needs: .elsewhere) { context in
            let user = try await context.signUp()
            let other = try await context.device()
            try await context.signIn(on: other)
            try await context.client.signOut(.others)
            try await context.expectSignedIn(user.id)
            _ = try await context.client.accessToken(refreshing: true)
            try await context.expectFailure(.sessionExpired, in: "asking for a new token on the other device") {
                try await other.accessToken(refreshing: true)
            }
        },
    ].within("devices")
}

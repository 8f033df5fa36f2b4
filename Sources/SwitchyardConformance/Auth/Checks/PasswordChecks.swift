import Switchyard

extension AuthConformance {
    static let passwordChecks: [AuthCheck] = [
        AuthCheck("a new device has no user signed in") { context in
            try await context.watch().newest("that no user is signed in") { $0 == .signedOut(SignOut(.never)) }
            try expect(await context.client.currentUser == nil, "there is no user", found: "one")
        },
        AuthCheck("signing up makes an account and signs it in") { context in
            let user = try await context.signUp()
            try expect(!user.id.isEmpty, "the user has a name", found: "an empty one")
            try expectEqual(user.email, context.email(), "the address")
            try expectEqual(user.isAnonymous, false, "whether the account is anonymous")
            try expect(user.identities.contains(.password), "the account has a password", found: "\(user.identities)")
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("an address can be used for one account only") { context in
            try await context.signUp()
            let other = try await context.device()
            let error = try await context.expectFailure(.emailInUse, in: "signing up again") {
                try await other.signUp(email: context.email(), password: context.otherPassword)
            }
            try expect(!error.isRetryable, "it is not worth a retry", found: "isRetryable")
            try await context.expectSignedOut(on: other)
            try await context.signIn(on: other)
        },
        AuthCheck("a weak password is refused, and makes no account") { context in
            try await context.expectFailure(.weakPassword, in: "signing up") {
                try await context.client.signUp(email: context.email(), password: "abc")
            }
            try await context.expectSignedOut()
            try await context.signUp()
        },
        AuthCheck("what is no address is refused") { context in
            try await context.expectFailure(.invalidArgument, in: "signing up") {
                try await context.client.signUp(email: "not an address", password: context.password)
            }
            try await context.expectSignedOut()
        },
        AuthCheck("signing in gives the account that was made") { context in
            let user = try await context.signUp()
            let other = try await context.device()
            let same = try await context.signIn(on: other)
            try expectEqual(same.id, user.id, "the user's name")
            try expectEqual(same.email, context.email(), "the address")
            try await context.expectSignedIn(user.id, on: other)
        },
        AuthCheck("addresses differ by more than capital letters") { context in
            let user = try await context.signUp()
            let other = try await context.device()
            let same = try await other.signIn(email: context.email().uppercased(), password: context.password)
            try expectEqual(same.id, user.id, "the user's name")
        },
        AuthCheck("a wrong password is refused") { context in
            try await context.signUp()
            let other = try await context.device()
            let error = try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await other.signIn(email: context.email(), password: context.otherPassword)
            }
            try expect(!error.isRetryable, "it is not worth a retry", found: "isRetryable")
            try await context.expectSignedOut(on: other)
        },
        AuthCheck("an address without an account is refused") { context in
            try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await context.signIn("missing")
            }
            try await context.expectSignedOut()
        },
        AuthCheck("an empty password is refused") { context in
            try await context.signUp()
            let other = try await context.device()
            try await context.expectFailure(.invalidCredential, .invalidArgument, in: "signing in") {
                try await other.signIn(email: context.email(), password: "")
            }
            try await context.expectSignedOut(on: other)
        },
        AuthCheck("a sign-in that fails leaves the current session") { context in
            let user = try await context.signUp()
            try await context.expectFailure(.invalidCredential, in: "signing in") {
                try await context.client.signIn(email: context.email(), password: context.otherPassword)
            }
            try await context.expectSignedIn(user.id)
            try expectEqual(try await context.client.accessToken().userID, user.id, "whose token it is")
        },
        AuthCheck("signing in as somebody else takes the place of the session") { context in
            let bob = try await context.signUp("bob")
            let alice = try await context.signUp("alice")
            try expect(bob.id != alice.id, "they are two", found: "one")
            try await context.expectSignedIn(alice.id)
            try await context.signIn("bob")
            try await context.expectSignedIn(bob.id)
            try expectEqual(try await context.client.accessToken().userID, bob.id, "whose token it is")
        },
        AuthCheck("passwords hold any character") { context in
            let password: Secret = "pä ss\"w'o\\r%d+&=/?#😀"
            let user = try await context.signUp(password: password)
            let other = try await context.device()
            try expectEqual(
                try await other.signIn(email: context.email(), password: password).id, user.id, "the user's name")
        },
    ].within("passwords")

    static let stateChecks: [AuthCheck] = [
        AuthCheck("signing out ends the session, at the user's request") { context in
            try await context.signUp()
            try await context.client.signOut()
            try expectEqual(await context.client.state, .signedOut(SignOut(.byUser)), "the state")
            try await context.expectSignedOut()
            try await context.expectFailure(.notSignedIn, in: "asking for a token") {
                try await context.client.accessToken()
            }
        },
        AuthCheck("signing out where no user is signed in is no error") { context in
            try await context.client.signOut()
            try await context.expectSignedOut()
        },
        AuthCheck("signing out can ask for local data to be wiped") { context in
            let user = try await context.signUp()
            try await context.client.signOut(.local, wipesLocalData: true)
            try expectEqual(
                await context.client.state, .signedOut(SignOut(.byUser, wipesLocalData: true)), "the state")
            // A later sign-in does not cancel the request, if the client records requests.
            try await context.signUp("bob")
            guard let requests = context.client.wipeRequests else { return }
            try expectEqual(requests.map(\.userID), [user.id], "who wanted to be forgotten")
        },
        AuthCheck("the stream of states begins with the current one") { context in
            let user = try await context.signUp()
            let first = try await context.watch().first("a state that is known") { $0 != .unknown }
            try expectEqual(first.user?.id, user.id, "the user in it")
        },
        AuthCheck("the stream of states shows each change, in order") { context in
            let probe = context.watch()
            try await probe.newest("that no user is signed in") { !$0.isSignedIn && $0 != .unknown }
            let user = try await context.signUp()
            try await probe.newest("the user") { $0.user?.id == user.id }
            try await context.client.signOut()
            try await probe.newest("that no user is signed in any more") { $0 == .signedOut(SignOut(.byUser)) }
            try await context.signIn()
            try await probe.newest("the user again") { $0.user?.id == user.id }
            let kinds = probe.elements.filter { $0 != .unknown }.map(\.isSignedIn)
            let changes = kinds.enumerated().filter { $0.offset == 0 || kinds[$0.offset - 1] != $0.element }.map(
                \.element)
            try expectEqual(changes, [false, true, false, true], "whether somebody is signed in, change by change")
        },
        AuthCheck("two consumers see the same states") { context in
            let probes = [context.watch(), context.watch()]
            let user = try await context.signUp()
            for probe in probes { try await probe.newest("the user") { $0.user?.id == user.id } }
            await probes[0].stop()
            try await context.client.signOut()
            try await probes[1].newest("that no user is signed in") { !$0.isSignedIn }
        },
        AuthCheck("the state can be read at any time, and agrees with the stream") { context in
            let user = try await context.signUp()
            try expectEqual(await context.client.state.user?.id, user.id, "the user in the state")
            try expectEqual(await context.client.state.isSignedIn, true, "whether somebody is signed in")
        },
        AuthCheck("a new token is no new state") { context in
            try await context.signUp()
            let probe = context.watch()
            try await probe.newest("the user") { $0.isSignedIn }
            let seen = probe.elements.count
            for _ in 0..<3 { _ = try await context.client.accessToken(refreshing: true) }
            try await context.client.signOut()
            try await probe.newest("that no user is signed in") { !$0.isSignedIn }
            try expect(
                probe.elements.dropFirst(seen).allSatisfy { !$0.isSignedIn }, "no state came of the new tokens",
                found: "\(probe.elements.count - seen) states")
        },
        AuthCheck("the end of the client ends its stream of states") { context in
            let device = try await context.device()
            let probe = context.watch(device)
            try await probe.first("a state")
            await device.shutDown()
            await device.shutDown()
            _ = try await probe.end()
        },
        AuthCheck("leaving the stream of states does no harm") { context in
            for _ in 0..<3 {
                for await state in context.client.authStateStream() where state != .unknown { break }
            }
            let user = try await context.signUp()
            try await context.expectSignedIn(user.id)
        },
        AuthCheck("a session outlasts its client", needs: .keptSessions) { context in
            let user = try await context.signUp()
            let reopened = try await context.restart(context.client)
            try await context.watch(reopened).newest("the user") { $0.user?.id == user.id }
            try expectEqual(try await reopened.accessToken().userID, user.id, "whose token it is")
        },
        AuthCheck("a session that was ended stays so after a restart", needs: .keptSessions) { context in
            try await context.signUp()
            try await context.client.signOut()
            let reopened = try await context.restart(context.client)
            try await context.watch(reopened).newest("that no user is signed in") { !$0.isSignedIn && $0 != .unknown }
            try await context.expectSignedOut(on: reopened)
        },
    ].within("states")
}

import Switchyard

extension AdminConformance {
    static let findingChecks: [AdminCheck] = [
        AdminCheck("an account is found by its ID, its address and its phone number") { context in
            let made = try await context.create { $0.phoneNumber = context.phoneNumber() }
            let found = [
                try await context.client.account(made.id), try await context.client.account(email: context.email()),
                try await context.client.account(phoneNumber: context.phoneNumber()),
            ]
            for account in found {
                try expectEqual(account.id, made.id, "the ID")
                try expectEqual(account.email, context.email(), "the address")
                try expectEqual(account.user.phoneNumber, context.phoneNumber(), "the number")
            }
        },
        AdminCheck("an address is found however it is written") { context in
            let made = try await context.create()
            for text in [context.email().uppercased(), context.email().lowercased()] {
                try expectEqual(try await context.client.account(email: text).id, made.id, "the ID")
            }
        },
        AdminCheck("an address that was given in capitals is found") { context in
            let made = try await context.create { $0.email = context.email().uppercased() }
            try expectEqual(try await context.client.account(email: context.email()).id, made.id, "the ID")
            try expectEqual(made.email?.lowercased(), context.email().lowercased(), "the address, but for its case")
            _ = try await context.signedIn()
        },
        AdminCheck("several keys are answered in their order, with nothing for who is not there") { context in
            let alice = try await context.create("alice")
            let bob = try await context.create("bob") { $0.phoneNumber = context.phoneNumber() }
            let found = try await context.client.accounts([
                .email(context.email("bob")), .id(context.newID()), .id(alice.id), .email(context.email("missing")),
                .phoneNumber(context.phoneNumber(1)), .phoneNumber(context.phoneNumber()), .id(bob.id),
            ])
            try expectEqual(found.map { $0?.id }, [bob.id, nil, alice.id, nil, nil, bob.id, bob.id], "who is found")
        },
        AdminCheck("the same key twice is the same account twice") { context in
            let made = try await context.create()
            let found = try await context.client.accounts([
                .id(made.id), .id(made.id), .email(context.email()), .email(context.email().uppercased()),
            ])
            try expectEqual(found.map { $0?.id }, Array(repeating: made.id, count: 4), "who is found")
        },
        AdminCheck("many keys are answered at once") { context in
            let made = try await context.create()
            let keys = (0..<120).map { $0 % 40 == 39 ? AccountKey.id(made.id) : .id(context.harness.makeID()) }
            let found = try await context.client.accounts(keys)
            try expectEqual(
                found.map { $0?.id }, (0..<120).map { $0 % 40 == 39 ? made.id : nil }, "who is found")
        },
        AdminCheck("asking for a missing user finds no one") { context in
            try expectEqual(try await context.client.accounts([]), [], "who is found")
        },
        AdminCheck("what can be no ID is no one's") { context in
            try expectEqual(
                try await context.client.accounts([.id("no ID of anybody's"), .id(context.namespace.rawValue)]),
                [nil, nil], "who is found")
            try await context.expectFailure(.userNotFound, in: "asking for it alone") {
                try await context.client.account("no ID of anybody's")
            }
        },
        AdminCheck("who is asked for alone and is not there is not found") { context in
            try await context.expectFailure(.userNotFound, in: "asking for an ID") {
                try await context.client.account(context.newID())
            }
            let error = try await context.expectFailure(.userNotFound, in: "asking for an address") {
                try await context.client.account(email: context.email("missing"))
            }
            try expect(
                !error.description.contains(context.email("missing")), "the error does not reveal the address",
                found: "it does")
            try await context.expectFailure(.userNotFound, in: "asking for a number") {
                try await context.client.account(phoneNumber: context.phoneNumber())
            }
        },
        AdminCheck("who has signed up is found as they see themselves") { context in
            let device = try await context.device()
            let result = try await device.signUp(email: context.email(), password: context.password)
            let found = try await context.client.account(email: context.email())
            if case .signedIn(let user) = result { try expectEqual(found.id, user.id, "the ID") }
            try expectEqual(found.email, context.email(), "the address")
            try expectEqual(found.isDisabled, false, "whether the account is disabled")
            try expectEqual(found.claims, [:], "the claims")
        },
        AdminCheck("an anonymous account is found, and known as one", needs: .anonymous) { context in
            let user = try await context.device().signInAnonymously()
            let found = try await context.client.account(user.id)
            // Delete the account before any expectation can fail, since nothing else would.
            try await context.client.delete(user.id)
            try expectEqual(found.user.isAnonymous, true, "whether the account is anonymous")
            try expectEqual(found.email, nil, "the address")
        },
    ].within("finding")
}

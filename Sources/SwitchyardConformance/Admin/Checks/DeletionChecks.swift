import Switchyard

extension AdminConformance {
    static let barringChecks: [AdminCheck] = [
        AdminCheck("who is disabled from the beginning cannot sign in") { context in
            try await context.create { $0.isDisabled = true }
            try await context.expectShut(.userDisabled)
        },
        AdminCheck("disabling ends refreshing, and enabling lets in again") { context in
            let made = try await context.create()
            let device = try await context.signedIn()
            try await context.client.setDisabled(true, made.id)
            try await context.expectFailure(.userDisabled, .sessionExpired, in: "asking for a new token") {
                try await device.accessToken(refreshing: true)
            }
            try await context.expectShut(.userDisabled)
            try await context.client.setDisabled(false, made.id)
            try expectEqual(try await context.account(made.id).isDisabled, false, "whether the account is disabled")
            let other = try await context.signedIn()
            try expectEqual(try await other.accessToken(refreshing: true).userID, made.id, "whose token it is")
        },
        AdminCheck("disabling what is disabled, and enabling what is not, is no error") { context in
            let made = try await context.create()
            try await context.client.setDisabled(false, made.id)
            try await context.client.setDisabled(true, made.id)
            try await context.client.setDisabled(true, made.id)
            try expectEqual(try await context.account(made.id).isDisabled, true, "whether the account is disabled")
        },
        AdminCheck("disabling one leaves the others") { context in
            let alice = try await context.create("alice")
            try await context.create("bob")
            let device = try await context.signedIn("bob")
            try await context.client.setDisabled(true, alice.id)
            _ = try await device.accessToken(refreshing: true)
            _ = try await context.signedIn("bob")
        },
    ].within("disabling")

    static let deletionChecks: [AdminCheck] = [
        AdminCheck("a deleted account is found by nothing") { context in
            let made = try await context.create { $0.phoneNumber = context.phoneNumber() }
            try await context.client.delete(made.id)
            let found = try await context.client.accounts([
                .id(made.id), .email(context.email()), .phoneNumber(context.phoneNumber()),
            ])
            try expectEqual(found, [nil, nil, nil], "what is found")
        },
        AdminCheck("a deleted account has no sessions, and no one signs in to it") { context in
            let made = try await context.create()
            let device = try await context.signedIn()
            try await context.client.delete(made.id)
            try await context.expectFailure(.sessionExpired, .userNotFound, in: "asking for a new token") {
                try await device.accessToken(refreshing: true)
            }
            try await context.expectShut(.invalidCredential)
        },
        AdminCheck("what is not there cannot be deleted alone") { context in
            let made = try await context.create()
            try await context.client.delete(made.id)
            for id in [made.id, context.newID(), "no ID of anybody's"] {
                try await context.expectFailure(.userNotFound, in: "the deletion") {
                    try await context.client.delete(id)
                }
            }
        },
        AdminCheck("deleting frees the address and the number") { context in
            let first = try await context.create { $0.phoneNumber = context.phoneNumber() }
            try await context.client.delete(first.id)
            let second = try await context.create { $0.phoneNumber = context.phoneNumber() }
            try expect(first.id != second.id, "it is another account", found: "the same")
            let device = try await context.signedIn()
            try expectEqual(await device.currentUser?.id, second.id, "who is signed in")
        },
        AdminCheck("deleting frees an ID of one's own", needs: .ownIDs) { context in
            let id = context.newID()
            try await context.create("alice") { $0.id = id }
            try await context.client.delete(id)
            let second = try await context.create("bob") { $0.id = id }
            try expectEqual(second.id, id, "the ID")
            try expectEqual(try await context.account(id).email, context.email("bob"), "the address")
        },
        AdminCheck("many are deleted, and one that is not there is no failure") { context in
            var ids: [AuthUser.ID] = []
            for index in 0..<6 { ids.append(try await context.create("user\(index)").id) }
            let kept = try await context.create("kept")
            let failures = try await context.client.delete(
                ids[..<3] + [context.newID(), ids[0], "no ID of anybody's"] + ids[3...])
            try expectEqual(failures.map(\.key), [], "who was not deleted")
            try expectEqual(
                try await context.client.accounts(ids.map { .id($0) }), Array(repeating: nil, count: 6), "what is left")
            try expectEqual(try await context.account(kept.id).email, context.email("kept"), "the one that is kept")
        },
        AdminCheck("deleting none does nothing") { context in
            try expectEqual(try await context.client.delete([]).map(\.key), [], "who was not deleted")
        },
    ].within("deletion")
}

import Foundation
import Switchyard
import SwitchyardBytes

extension AdminConformance {
    static let refusalChecks: [AdminCheck] = [
        refusal(of: .endingSessions, "ending sessions") { context in
            let made = try await context.create()
            return try await context.client.endSessions(of: made.id)
        },
        refusal(of: .customTokens, "custom tokens") { try await $0.client.customToken(for: $0.newID()) },
        refusal(of: .passwordResetLinks, "links to new passwords") { try await $0.refusedLink(.passwordReset) },
        refusal(of: .confirmationLinks, "links that confirm addresses") {
            try await $0.refusedLink(.emailConfirmation)
        },
        refusal(of: .signInLinks, "links that sign in") { try await $0.refusedLink(.signIn) },
        refusal(of: .imports, "imports") { context in
            try await context.client.importAccounts([
                ImportedAccount(id: context.newID(), NewAccount(email: context.email()))
            ])
        },
        refusal(of: .unconfirming, "addresses that stop being confirmed") { context in
            let made = try await context.create()
            return try await context.client.update(made.id, AccountEdit(isEmailVerified: false))
        },
        refusal(of: .ownIDs, "IDs of one's own") { context in try await context.create { $0.id = context.newID() } },
        AdminCheck("accounts without an address and a number: refused where there are none", needs: .no(.bareAccounts))
        {
            context in
            try await context.expectFailure(.unsupported, .invalidArgument, in: "making one") {
                try await context.create(NewAccount(displayName: "Missing"))
            }
        },
    ].within("refusals")

    private static func refusal<Value: Sendable>(
        of requirement: AdminRequirement, _ what: String,
        _ body: @escaping @Sendable (AdminContext) async throws -> Value
    ) -> AdminCheck {
        AdminCheck("\(what): refused where it is not declared", needs: .no(requirement)) { context in
            try await expectRefusal(
                .unsupported, as: AuthError.self, of: "Auth", by: context.client.provider, "the call"
            ) { try await body(context) }
        }
    }

    static let careChecks: [AdminCheck] = [
        AdminCheck("the client has the capabilities that the harness declares") { context in
            try expectEqual(context.client.capabilities, context.features.capabilities, "the client's capabilities")
            try expectEqual(
                try await context.device().provider, context.client.provider, "the provider of the devices")
        },
        AdminCheck("what one client does, another sees at once") { context in
            let other = try await context.harness.makeAdminClient()
            let made = try await context.create(on: other)
            try expectEqual(try await context.account(made.id).email, context.email(), "the address")
            try await context.client.update(made.id, AccountEdit(displayName: "Alice"))
            try expectEqual(try await other.account(made.id).user.displayName, "Alice", "the name")
            try await other.delete(made.id)
            try await context.expectMissing(made.id)
        },
        AdminCheck("no text gives away a password, a hash or an address") { context in
            let made = try await context.create { $0.phoneNumber = context.phoneNumber() }
            let weak: Secret = "a7#"
            let errors = [
                try await context.expectFailure(.weakPassword, in: "making an account") {
                    try await context.create("bob") { $0.password = weak }
                },
                try await context.expectFailure(.weakPassword, in: "the edit") {
                    try await context.client.update(made.id, AccountEdit(password: weak))
                },
                try await context.expectFailure(.emailInUse, in: "making an account") {
                    try await context.create { $0.password = context.otherPassword }
                },
                try await context.expectFailure(.identityInUse, in: "making an account") {
                    try await context.create("bob") { $0.phoneNumber = context.phoneNumber() }
                },
            ]
            let keys: [AccountKey] = [.email(context.email()), .phoneNumber(context.phoneNumber())]
            let new = NewAccount(password: context.password)
            let hash = PasswordHash.pbkdf2SHA256(hash: context.password, salt: context.otherPassword, rounds: 1)
            let texts =
                errors.flatMap { [$0.description, $0.message, $0.errorDescription ?? ""] }
                + ["\(made)", "\(keys)", "\(new)", "\(AccountEdit(password: context.password))", "\(hash)"]
            let secrets =
                [context.password, context.otherPassword, weak].map { $0.reveal() }
                + [context.email(), context.email("bob"), context.phoneNumber()]
            for text in texts {
                try expect(
                    !secrets.contains { text.includes($0) }, "no secret shows",
                    found: "one, in a text of \(text.count) characters")
            }
        },
        AdminCheck("a custom token does not show in texts", needs: .customTokens) { context in
            let token = try await context.client.customToken(for: context.newID(), claims: ["tenant": "acme"])
            try expect(token.reveal().count > 20, "there is a token", found: "a text of \(token.reveal().count)")
            try expect(
                !"\(token)".includes(token.reveal()) && !String(reflecting: token).includes(token.reveal()),
                "it is hidden", found: "it shows")
        },
        AdminCheck("calls side by side all come to their end") { context in
            let made = try await withThrowingTaskGroup(of: AuthUser.ID.self) { group in
                for index in 0..<12 {
                    group.addTask {
                        let made = try await context.create("user\(index)")
                        try await context.client.update(made.id, AccountEdit(displayName: "User \(index)"))
                        return made.id
                    }
                }
                return try await group.reduce(into: Set<AuthUser.ID>()) { $0.insert($1) }
            }
            try expectEqual(made.count, 12, "how many there are")
            for index in 0..<12 {
                let found = try await context.client.account(email: context.email("user\(index)"))
                try expectEqual(found.user.displayName, "User \(index)", "the name of number \(index)")
            }
        },
        AdminCheck("a key that is not the project's opens nothing", needs: .wrongKeys) { context in
            let made = try await context.create()
            let unauthorized = try await context.harness.makeClientWithWrongKey()
            try await context.expectFailure(.unauthenticated, in: "looking") { try await unauthorized.account(made.id) }
            try await context.expectFailure(.unauthenticated, in: "a page") {
                try await unauthorized.accountPage(after: nil, limit: 1)
            }
            try await context.expectFailure(.unauthenticated, in: "making an account") {
                try await unauthorized.create(NewAccount(email: context.email("bob")))
            }
            try await context.expectFailure(.unauthenticated, in: "deleting") { try await unauthorized.delete(made.id) }
            try expectEqual(try await context.account(made.id).email, context.email(), "the address")
        },
    ].within("care")
}

extension AdminContext {
    /// A link that cannot be created, for an existing account.
    fileprivate func refusedLink(_ kind: AccountLink) async throws -> URL {
        try await create { $0.isEmailVerified = false }
        return try await client.link(kind, for: email(), redirectURL: features.redirectURL)
    }
}

import Foundation
import Switchyard

extension AdminConformance {
    /// Hashes of the password used in these checks, with both common prefixes; older hashes have an “a”. The cost is the lowest
    /// possible.
    private static let bcrypt = ["$2b$", "$2a$"].map { version in
        PasswordHash.bcrypt(Secret(version + "04$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6pW"))
    }
    private static let pbkdf2 = PasswordHash.pbkdf2SHA256(
        hash: "kNBZxHhfhM5KEkEq1GCSAAQvV3yed2GtgcE7E8J266I=", salt: "YSBwaW5jaCBvZiBzZWEgc2FsdA==", rounds: 1000)

    private static func hash(_ kind: PasswordHash.Kind) -> PasswordHash {
        switch kind {
        case .bcrypt: bcrypt[0]
        case .pbkdf2SHA256: pbkdf2
        // Hashes of other passwords, which are not used to sign in.
        case .argon2:
            .argon2("$argon2id$v=19$m=32,t=3,p=2$SFVpOWJ0eXhjRzVkdGN1RQ$RXnb8rh7LaDcn07xsssqqulZYXOM/EUCEFMVcAcyYVk")
        case .keyedScrypt:
            .keyedScrypt(
                hash: "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
                salt: "42xEC+ixf3L2lw==",
                .init(
                    signerKey:
                        "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
                    saltSeparator: "Bw=="))
        }
    }

    static let importChecks: [AdminCheck] = [
        AdminCheck("a password that bcrypt has hashed lets in after the import", needs: .bcrypt) { context in
            for (index, hash) in bcrypt.enumerated() { try await letsIn(hash, "user\(index)", context) }
        },
        AdminCheck("a password that PBKDF2 has hashed lets in after the import", needs: .pbkdf2) { context in
            try await letsIn(pbkdf2, "alice", context)
        },
        AdminCheck("an account is imported with everything it has", needs: .imports) { context in
            let id = context.newID()
            let photo = URL(string: "https://example.com/alice.png")
            let account = NewAccount(
                email: context.email(), isEmailVerified: true, phoneNumber: context.phoneNumber(),
                displayName: "Älice 😀", photoURL: photo, isDisabled: true,
                claims: ["role": "editor", "tags": ["a", 1]])
            try await take([ImportedAccount(id: id, account)], context)
            let found = try await context.account(id)
            try expectEqual(found.email, context.email(), "the address")
            try expectEqual(found.user.isEmailVerified, true, "whether the address is confirmed")
            try expectEqual(found.user.phoneNumber, context.phoneNumber(), "the number")
            try expectEqual(found.user.displayName, "Älice 😀", "the name")
            try expectEqual(found.user.photoURL, photo, "the picture")
            try expectEqual(found.isDisabled, true, "whether the account is disabled")
            try expectEqual(found.claims, ["role": "editor", "tags": ["a", 1]], "the claims")
            try expectEqual(try await context.client.account(email: context.email()).id, id, "whose the address is")
        },
        AdminCheck("an account without a hash has no password, whatever else is said", needs: .imports) { context in
            let id = context.newID()
            let account = NewAccount(email: context.email(), isEmailVerified: true, password: context.password)
            try await take([ImportedAccount(id: id, account)], context)
            try expectEqual(try await context.account(id).email, context.email(), "the address")
            try await context.expectShut(.invalidCredential)
            try await context.client.update(id, AccountEdit(password: context.otherPassword))
            _ = try await context.signedIn(password: context.otherPassword)
        },
        AdminCheck("an imported password is replaced", needs: .imports) { context in
            let id = context.newID()
            let kind = try expectValue(
                PasswordHash.Kind.allCases.first { context.features.capabilities.passwordHashes.contains($0) },
                "a kind of hash")
            let account = NewAccount(email: context.email(), isEmailVerified: true)
            try await take([ImportedAccount(id: id, account, passwordHash: hash(kind))], context)
            try await context.client.update(id, AccountEdit(password: context.otherPassword))
            try await context.expectShut(.invalidCredential)
            let device = try await context.signedIn(password: context.otherPassword)
            try expectEqual(await device.currentUser?.id, id, "who is signed in")
        },
        AdminCheck("hashes of every declared kind are taken over, and let no one else in", needs: .imports) { context in
            for kind in PasswordHash.Kind.allCases where context.features.capabilities.passwordHashes.contains(kind) {
                let (id, name) = (context.newID(), "of\(kind.rawValue)")
                let account = NewAccount(email: context.email(name), isEmailVerified: true)
                try await take([ImportedAccount(id: id, account, passwordHash: hash(kind))], context)
                try await context.expectShut(.invalidCredential, for: name, password: context.otherPassword)
            }
        },
        AdminCheck("a known ID is refused by itself, and its account stays", needs: .imports) { context in
            let ids = (0..<3).map { _ in context.newID() }
            try await take(
                [
                    ImportedAccount(id: ids[1], NewAccount(email: context.email("known"), displayName: "Known"))
                ], context)
            let failures = try await context.client.importAccounts(
                ids.enumerated().map { index, id in
                    ImportedAccount(id: id, NewAccount(email: context.email("user\(index)")))
                })
            try expectEqual(failures.map(\.key), [ids[1]], "who was not taken over")
            try expectEqual(failures[ids[1]]?.code, .identityInUse, "the error's code")
            let found = try await context.client.accounts(ids.map { .id($0) })
            try expectEqual(
                found.map { $0?.email },
                [context.email("user0"), context.email("known"), context.email("user2")], "the addresses")
            try expectEqual(found[1]?.user.displayName, "Known", "the name")
        },
        AdminCheck("a known address is refused by itself, and stays whose it is", needs: .imports) { context in
            let made = try await context.create("known")
            let ids = [context.newID(), context.newID()]
            let failures = try await context.client.importAccounts([
                ImportedAccount(id: ids[0], NewAccount(email: context.email("known"))),
                ImportedAccount(id: ids[1], NewAccount(email: context.email("new"))),
            ])
            try expectEqual(failures.map(\.key), [ids[0]], "who was not taken over")
            try expectEqual(failures[ids[0]]?.code, .emailInUse, "the error's code")
            try await context.expectMissing(ids[0])
            try expectEqual(try await context.account(ids[1]).email, context.email("new"), "the other's address")
            try expectEqual(
                try await context.client.account(email: context.email("known")).id, made.id, "whose the address is")
        },
        AdminCheck("importing no one does nothing", needs: .imports) { context in
            try expectEqual(try await context.client.importAccounts([]).map(\.key), [], "who was not taken over")
        },
        AdminCheck("hashes of another kind are refused, and take over no one", needs: .limitedImports) { context in
            let kinds = PasswordHash.Kind.allCases.filter { !context.features.capabilities.passwordHashes.contains($0) }
            for kind in kinds {
                let id = context.newID()
                let account = NewAccount(email: context.email("of \(kind)".filter { $0 != " " }))
                let imported = ImportedAccount(id: id, account, passwordHash: hash(kind))
                let code: ErrorCode?
                do throws(AuthError) {
                    code = try await context.client.importAccounts([imported])[id]?.code
                } catch {
                    code = error.code
                }
                try expectEqual(code, .unsupported, "the error's code")
                try await context.expectMissing(id)
            }
        },
    ].within("imports")

    private static func take(_ accounts: [ImportedAccount], _ context: AdminContext) async throws {
        let failures = try await context.client.importAccounts(accounts)
        try expect(
            failures.isEmpty, "everybody is taken over",
            found: failures.values.map(\.description).joined(separator: "; "))
    }

    private static func letsIn(_ hash: PasswordHash, _ name: String, _ context: AdminContext) async throws {
        let id = context.newID()
        let account = NewAccount(email: context.email(name), isEmailVerified: true, claims: ["role": "editor"])
        try await take([ImportedAccount(id: id, account, passwordHash: hash)], context)
        try await context.expectShut(.invalidCredential, for: name, password: context.otherPassword)
        let device = try await context.signedIn(name)
        try expectEqual(await device.currentUser?.id, id, "who is signed in")
        try expectEqual(try await context.account(id).claims, ["role": "editor"], "the claims")
    }
}

import Switchyard

extension AdminConformance {
    static let manyChecks: [AdminCheck] = [
        AdminCheck("many are made, and each result stands in its place") { context in
            try await context.create("taken")
            var accounts = (0..<9).map { NewAccount(email: context.email("user\($0)"), displayName: "User \($0)") }
            accounts[3].email = context.email("taken")
            accounts[7].password = "abc"
            let results = try await context.client.create(accounts)
            try expectEqual(results.count, accounts.count, "how many results there are")
            for (index, result) in results.enumerated() {
                switch (index, result) {
                case (3, .failure(let error)): try expectEqual(error.code, .emailInUse, "the error's code")
                case (7, .failure(let error)): try expectEqual(error.code, .weakPassword, "the error's code")
                case (3, .success), (7, .success):
                    throw ConformanceFailure(expectation: "number \(index) is refused", found: "an account")
                case (_, .success(let account)):
                    try expectEqual(account.email, context.email("user\(index)"), "the address of number \(index)")
                    try expectEqual(
                        try await context.account(account.id).user.displayName, "User \(index)",
                        "the name of number \(index)")
                case (_, .failure(let error)): throw error
                }
            }
        },
        AdminCheck("many are changed in one way, and each result stands in its place") { context in
            var ids: [AuthUser.ID] = []
            for index in 0..<7 { ids.append(try await context.create("user\(index)").id) }
            ids.insert(context.newID(), at: 2)
            let results = try await context.client.update(ids, AccountEdit(displayName: "Everybody"))
            try expectEqual(results.count, ids.count, "how many results there are")
            for (index, result) in results.enumerated() {
                switch (index, result) {
                case (2, .failure(let error)): try expectEqual(error.code, .userNotFound, "the error's code")
                case (2, .success):
                    throw ConformanceFailure(expectation: "who is not there cannot be changed", found: "an account")
                case (_, .success(let account)):
                    try expectEqual(account.id, ids[index], "the ID of number \(index)")
                    try expectEqual(account.user.displayName, "Everybody", "the name of number \(index)")
                case (_, .failure(let error)): throw error
                }
            }
        },
        AdminCheck("making none and changing none does nothing") { context in
            try expectEqual(try await context.client.create([]).count, 0, "how many results there are")
            let updated = try await context.client.update([], AccountEdit(displayName: "x"))
            try expectEqual(updated.count, 0, "how many results there are")
        },
    ].within("many at once")

    static let cancellationChecks: [AdminCheck] = [
        AdminCheck("a cancelled call looks no one up") { context in
            let made = try await context.create()
            try await context.expectCancelled { try await $0.accounts([.id(made.id)]) }
            try await context.expectCancelled { try await $0.accounts([.email(context.email())]) }
            try await context.expectCancelled { try await $0.accountPage(after: nil, limit: 1) }
        },
        AdminCheck("a cancelled call makes no one") { context in
            try await context.expectCancelled {
                try await $0.create(NewAccount(email: context.email(), password: context.password))
            }
            let accounts = (0..<6).map { NewAccount(email: context.email("user\($0)")) }
            let results = try await inCancelledTask { try await context.client.create(accounts) }
            let codes: [ErrorCode?] = results.map { if case .failure(let error) = $0 { error.code } else { nil } }
            try expectEqual(codes, Array(repeating: .cancelled, count: 6), "what became of each of many")
            let keys = [AccountKey.email(context.email())] + accounts.map { .email($0.email ?? "") }
            try expectEqual(
                try await context.client.accounts(keys), Array(repeating: nil, count: 7), "who was made")
        },
        AdminCheck("a cancelled call changes and deletes no one") { context in
            let made = try await context.create { $0.displayName = "Alice" }
            try await context.expectCancelled { try await $0.update(made.id, AccountEdit(displayName: "Eve")) }
            try await context.expectCancelled { try await $0.delete(made.id) }
            let failures = try? await inCancelledTask { try await context.client.delete([made.id]) }
            if let failures { try expectEqual(failures[made.id]?.code, .cancelled, "why it was not deleted") }
            try expectEqual(try await context.account(made.id).user.displayName, "Alice", "the name")
        },
        AdminCheck("a cancelled call ends no session", needs: .endingSessions) { context in
            let made = try await context.create()
            let device = try await context.signedIn()
            try await context.harness.letTimePass()
            try await context.expectCancelled { try await $0.endSessions(of: made.id) }
            try expectEqual(try await device.accessToken(refreshing: true).userID, made.id, "whose token it is")
        },
        AdminCheck("a cancelled call takes over no one", needs: .imports) { context in
            let id = context.newID()
            try await context.expectCancelled {
                try await $0.importAccounts([ImportedAccount(id: id, NewAccount(email: context.email()))])
            }
            try await context.expectMissing(id)
        },
        AdminCheck("pages of a cancelled task end with its cancellation") { context in
            try await context.expectCancelled { client in
                for try await page in client.accountPages(size: 1) { _ = page }
            }
        },
    ].within("cancellation")
}

/// Runs `body` in a task that is already cancelled.
private func inCancelledTask<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await body()
    }
    return try await task.value
}

extension AdminContext {
    fileprivate func expectCancelled<Value: Sendable>(
        file: String = #fileID, line: Int = #line,
        _ body: @escaping @Sendable (any AdminClient) async throws -> Value
    ) async throws {
        try await expectFailure(.cancelled, in: "a call of a cancelled task", file: file, line: line) {
            try await inCancelledTask { [client] in try await body(client) }
        }
    }
}

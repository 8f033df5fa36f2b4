import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

@Suite struct MockAdminConformanceTests {
    static let harness = MockAdminHarness()
    static let tally = ConformanceTally("mock admin", AdminConformance.all, for: harness.features)

    @Test(arguments: AdminConformance.checks(for: harness.features))
    func `The mock's administration of accounts`(_ check: AdminCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `Only keys are left out`() {
        #expect(
            AdminConformance.leftOut(for: Self.harness.features) == [
                "a key that is not the project's opens nothing"
            ])
    }
}

/// Where no one signs in with an address that was not confirmed.
@Suite struct MockConfirmedAdminTests {
    static let harness = MockAdminHarness(asksForConfirmation: true)

    @Test(arguments: AdminConformance.checks(for: harness.features))
    func `The mock's administration, with addresses to be confirmed`(_ check: AdminCheck) async throws {
        try await check.run(on: Self.harness)
    }
}

/// What is not declared is refused, and everything else works all the same.
@Suite struct MockLittleAdminTests {
    static let harness = MockAdminHarness(AdminCapabilities())

    @Test(arguments: AdminConformance.checks(for: harness.features))
    func `An admin client with few capabilities`(_ check: AdminCheck) async throws {
        try await check.run(on: Self.harness)
    }

    @Test func `Every capability that is lacked has a check that it is refused`() {
        let refused = AdminConformance.checks(for: Self.harness.features).filter { $0.area == "refusals" }
        #expect(refused.count == 6)
    }
}

/// The suite itself, and that it finds out who lies.
@Suite struct AdminSuiteTests {
    @Test func `Checks leave no one behind`() async throws {
        let harness = MockAdminHarness()
        let report = await runConformance([.admin(harness)])
        #expect(report.failed == 0)
        #expect(report.passed == AdminConformance.checks(for: harness.features).count)
        let page = try await harness.makeAdminClient().accountPage(after: nil, limit: 1000)
        #expect(page.accounts == [])
    }

    @Test(arguments: Lie.allCases)
    func `A client that lies is found out`(_ lie: Lie) async {
        let report = await runConformance([.admin(Liars(lie: lie))], filter: [lie.check])
        #expect(report.summary == "0 passed, 1 failed, 0 skipped")
    }

    /// What a client does wrong.
    enum Lie: CaseIterable {
        case pagesByNumber, deletesMissing, keepsClaims, forgetsPasswords, makesCancelled, replacesImported

        /// The check that finds it out.
        var check: String {
            switch self {
            case .pagesByNumber: "deleting accounts that were shown skips no one"
            case .deletesMissing: "what is not there cannot be deleted alone"
            case .keepsClaims: "claims are emptied"
            case .forgetsPasswords: "a new password lets in, and the old one does not"
            case .makesCancelled: "a cancelled call makes no one"
            case .replacesImported: "a known ID is refused by itself, and its account stays"
            }
        }
    }

    private struct Liars: AdminHarness {
        let lie: Lie
        private let backend = MockBackend()
        let features = AdminFeatures(MockAdminClient.everything, auth: .all)

        init(lie: Lie) { self.lie = lie }
        func makeAdminClient() async throws -> any AdminClient { Liar(lie: lie, base: MockAdminClient(backend)) }
        func makeAuthClient() async throws -> any AuthClient { MockAuthClient(backend) }
    }

    private struct Liar: AdminClient {
        let lie: Lie
        let base: MockAdminClient
        var provider: InfrastructureProvider { base.provider }
        var capabilities: AdminCapabilities { base.capabilities }

        func accounts(_ keys: [AccountKey]) async throws(AuthError) -> [ManagedAccount?] {
            try await base.accounts(keys)
        }

        func accountPage(after cursor: AccountCursor?, limit: Int) async throws(AuthError) -> AccountPage {
            guard lie == .pagesByNumber else { return try await base.accountPage(after: cursor, limit: limit) }
            let all = try await base.accountPage(after: nil, limit: 1000).accounts
            let start = cursor.flatMap { Int($0.rawValue) } ?? 0
            let next = start + limit < all.count ? AccountCursor(rawValue: "\(start + limit)") : nil
            return AccountPage(accounts: Array(all.dropFirst(start).prefix(limit)), next: next)
        }

        func create(_ account: NewAccount) async throws(AuthError) -> ManagedAccount {
            guard lie == .makesCancelled, Task.isCancelled else { return try await base.create(account) }
            let made = await Task { try? await base.create(account) }.value
            guard made == nil else { throw AuthError(.cancelled, "The call was cancelled.") }
            throw AuthError(.internal, "No one was made.")
        }

        func update(_ id: AuthUser.ID, _ edit: AccountEdit) async throws(AuthError) -> ManagedAccount {
            var edit = edit
            if lie == .keepsClaims, edit.claims == [:] { edit.claims = nil }
            if lie == .forgetsPasswords { edit.password = nil }
            return try await base.update(id, edit)
        }

        func delete(_ id: AuthUser.ID) async throws(AuthError) {
            if lie == .deletesMissing, try await base.accounts([.id(id)]) == [nil] { return }
            try await base.delete(id)
        }

        func importAccounts(_ accounts: [ImportedAccount]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
            if lie == .replacesImported { _ = try await base.delete(accounts.map(\.id)) }
            return try await base.importAccounts(accounts)
        }
    }
}

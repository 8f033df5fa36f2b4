import Switchyard
import Synchronization

/// Checks tokens of a mock's people, whose key it has at hand.
final class MockTokenVerifier: TokenVerifier {
    let provider: InfrastructureProvider = .mock
    private let accounts: MockAccounts
    /// Keeps the project open.
    private let tenant: MockTenant?
    private let isShutDown = Atomic(false)

    init(_ accounts: MockAccounts, tenant: MockTenant?) {
        self.accounts = accounts
        self.tenant = tenant
    }

    func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken {
        guard !isShutDown.load(ordering: .relaxed) else { throw TokenError(.shutDown, "The verifier was shut down.") }
        return try accounts.verify(token, checksRevocation: checksRevocation)
    }

    func shutDown() async {
        guard !isShutDown.exchange(true, ordering: .relaxed) else { return }
        tenant?.leave()
    }
}

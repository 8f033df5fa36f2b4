import Foundation
import Switchyard
import SwitchyardProviderKit

/// Accounts with an address and a password. The session engine saves the session, refreshes its token and publishes its state.
final class WarehouseAuth: AuthClient {
    let provider = InfrastructureProvider.warehouse
    let capabilities = AuthCapabilities()
    private let warehouse: Warehouse
    private let engine: SessionEngine
    private let now: @Sendable () -> Timestamp

    init(_ warehouse: Warehouse, _ context: ModuleContext) throws(InfrastructureError) {
        self.warehouse = warehouse
        now = context.now
        engine = try SessionEngine(context, of: .warehouse, named: "warehouse") { session in
            do throws(Warehouse.Problem) {
                // Only the server's own answer ends a session; a lost connection leaves it as it is.
                guard try warehouse.knows(session.user.id) else {
                    return .refused(.signedOut, AuthError(.unauthenticated, "The account was deleted."))
                }
                return .renewed(Self.tokens(of: session.user.id, at: context.now()), nil)
            } catch {
                return .failed(AuthError(error))
            }
        }
    }

    var state: AuthState { get async { await engine.state } }
    var session: SessionSnapshot { get async { await engine.snapshot(of: provider) } }
    func authStateStream() -> SnapshotStream<AuthState, Never> { engine.stateStream }
    var wipeRequests: [WipeRequest]? { engine.wipeRequests }

    func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult {
        .signedIn(try await begin(email) { () throws(Warehouse.Problem) in try warehouse.signUp(email, password) })
    }

    func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        guard case .password(let email, let password) = credential.kind else {
            throw .unsupported("this way to sign in", by: provider, instead: "Use an address and a password.")
        }
        return try await begin(email) { () throws(Warehouse.Problem) in try warehouse.signIn(email, password) }
    }

    private func begin(
        _ email: String, _ call: () throws(Warehouse.Problem) -> Warehouse.Account
    ) async throws(AuthError) -> AuthUser {
        // Whoever begins last is signed in, whichever answer comes last.
        let attempt = try await engine.beginAttempt()
        let account: Warehouse.Account
        do throws(Warehouse.Problem) { account = try call() } catch { throw AuthError(error) }
        let user = AuthUser(id: account.id, email: email)
        try await engine.begin(user, tokens: Self.tokens(of: account.id, at: now()), attempt: attempt)
        return user
    }

    func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        _ = try await signIn(with: credential)
    }

    func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        throw .unsupported("changing accounts", by: provider, instead: "Create another one.")
    }

    func reloadUser() async throws(AuthError) -> AuthUser { try await engine.currentSession().user }

    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        guard scope == .local else {
            throw .unsupported("signing out elsewhere", by: provider, instead: "Sign out on each device.")
        }
        try await engine.end(SignOut(.byUser, wipesLocalData: wipesLocalData), await engine.session)
    }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await engine.accessToken(refreshing: refreshing)
    }

    func shutDown() async { await engine.shutDown() }

    private static func tokens(of id: String, at time: Timestamp) -> SessionTokens {
        SessionTokens(
            refresh: Secret("refresh of \(id)"), access: Secret("token of \(id)"), issuedAt: time,
            lifetime: .seconds(3600))
    }
}

extension AuthError {
    init(_ problem: Warehouse.Problem) { self.init(problem.code, problem.message) }
}

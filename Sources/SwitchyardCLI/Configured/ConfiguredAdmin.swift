import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock

/// The account management of a configuration that has a project credential.
///
/// Features without a capability, such as creating accounts with given IDs, are tried once with accounts that are deleted
/// afterwards. Links and tokens are not read here.
final class ConfiguredAdmin: AdminHarness {
    let features: AdminFeatures
    private let site: ConfiguredSite
    /// Keeps the connections that all admin clients share.
    private let server: Infrastructure

    /// - Returns: `nil` if the provider has no account management, or the configuration has no project credential.
    init?(_ site: ConfiguredSite) async throws(InfrastructureError) {
        let server = try await site.makeDevice()
        do throws(InfrastructureError) {
            features = try await ConfiguredAdmin.features(of: server.admin(), on: server.auth)
        } catch {
            await server.shutDown()
            guard error.code == .unsupported || error.code == .invalidConfiguration else { throw error }
            return nil
        }
        self.site = site
        self.server = server
    }

    deinit {
        let server = server
        Task { await server.shutDown() }
    }

    func makeAdminClient() async throws -> any AdminClient { try await server.admin() }

    func makeAuthClient() async throws -> any AuthClient {
        try await site.makeFactory().createAuthClient(provider: site.provider(of: .auth))
    }

    /// Servers count in whole seconds.
    func letTimePass() async throws {
        if features.capabilities.endingSessions, site.provider(of: .auth) != .mock {
            try await Task.sleep(for: .milliseconds(1100))
        }
    }

    // MARK: What is tried

    private static func features(
        of client: any AdminClient, on auth: any AuthClient
    ) async throws(InfrastructureError) -> AdminFeatures {
        var features = AdminFeatures(client.capabilities, auth: auth.capabilities)
        features.playsOutside = false
        var made: [AuthUser.ID] = []
        do throws(AuthError) {
            try await attempt(client, auth, &features, &made)
            _ = try await client.delete(made)
        } catch {
            _ = try? await client.delete(made)
            throw InfrastructureError(
                error.code, "Accounts cannot be administered: \(error.message)", underlying: error)
        }
        return features
    }

    private static func attempt(
        _ client: any AdminClient, _ auth: any AuthClient, _ features: inout AdminFeatures,
        _ made: inout [AuthUser.ID]
    ) async throws(AuthError) {
        let bare = try await account(NewAccount(), client)
        features.makesBareAccounts = bare != nil
        if let bare { made.append(bare.id) }

        let password: Secret = "correct horse 7 battery"
        let id = UUID().uuidString.lowercased()
        var new = NewAccount(id: id, email: "conformance-\(id)@example.com", password: password)
        var account = try await account(new, client)
        features.takesIDs = account != nil
        if account == nil {
            new.id = nil
            account = try await client.create(new)
        }
        guard let account, let email = new.email else { return }
        made.append(account.id)
        do throws(AuthError) {
            try await auth.signIn(email: email, password: password)
            try await auth.signOut()
        } catch .emailNotConfirmed {
            features.asksForConfirmation = true
        }
        try await client.update(account.id, AccountEdit(isEmailVerified: true))
        do throws(AuthError) {
            try await client.update(account.id, AccountEdit(isEmailVerified: false))
        } catch .unsupported {
            features.unconfirmsAddresses = false
        }
    }

    /// - Returns: `nil` if the provider has no accounts of this kind.
    private static func account(_ new: NewAccount, _ client: any AdminClient) async throws(AuthError) -> ManagedAccount?
    {
        do throws(AuthError) {
            return try await client.create(new)
        } catch {
            guard error.code == .unsupported || error.code == .invalidArgument else { throw error }
            return nil
        }
    }
}

package import Switchyard

extension PageBackend {
    /// A backend behind clients that are there already, such as those of a configuration. The page shuts them down.
    ///
    /// It acts for the project if the configuration has its credential, and otherwise as whoever is signed in.
    ///
    /// - Parameters:
    ///   - tables: The collections that are tables.
    ///   - device: Makes clients of the same backend that no one is signed in with, and that keep nothing; with them the page acts
    ///     as others. `nil` if it cannot.
    package static func configured(
        _ infrastructure: Infrastructure, name: String, address: String = "", id: String = "configured",
        tables: [CollectionPath] = [],
        device: (@Sendable () async throws(InfrastructureError) -> Infrastructure)? = nil
    ) async throws(InfrastructureError) -> PageBackend {
        let admin = try await optional { () throws(InfrastructureError) in try await infrastructure.admin() }
        let hasSender =
            try await optional { () throws(InfrastructureError) in try await infrastructure.messageSender() } != nil
        var acting: PageClients.Acting?
        if let admin, admin.capabilities.customTokens, let device {
            acting = { user, _ in try await pair(of: user, admin, device) }
        }
        let clients = try await PageClients(infrastructure, acting: acting, device: device)
        var abilities = Abilities()
        abilities.accounts = admin != nil
        abilities.messages = hasSender
        abilities.files = await infrastructure.selection[.files] != nil
        abilities.actAs = acting != nil
        abilities.claims = acting != nil
        return PageBackend(
            id: id, kind: .configured, name: name, address: address, provider: infrastructure.storage.provider,
            source: FixedClients(fixed: clients, tables: tables), abilities: abilities)
    }

    /// The clients of a user who is signed in by a token that the project has made.
    private static func pair(
        of user: Persona.User, _ admin: any AdminClient,
        _ device: @Sendable () async throws(InfrastructureError) -> Infrastructure
    ) async throws -> PageClients.Pair {
        guard user.assurance == nil || user.assurance == "aal1" else {
            throw PageFailure.unsupported("Only a local server makes sessions with a second factor.")
        }
        let token = try await admin.customToken(for: user.id, claims: AccountRoutes.claims(user.claims))
        let infrastructure = try await device()
        do {
            try await infrastructure.auth.signIn(with: .customToken(token))
        } catch {
            await infrastructure.shutDown()
            throw error
        }
        return PageClients.Pair(
            storage: infrastructure.storage, files: infrastructure.files, owner: infrastructure)
    }

    /// `nil` for what the provider lacks, or has no credential for.
    private static func optional<Client>(
        _ make: () async throws(InfrastructureError) -> Client
    ) async throws(InfrastructureError) -> Client? {
        do throws(InfrastructureError) { return try await make() } catch {
            guard [.unsupported, .invalidConfiguration].contains(error.code) else { throw error }
            return nil
        }
    }
}

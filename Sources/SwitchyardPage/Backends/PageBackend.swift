import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// A backend that a page shows.
package final class PageBackend: Sendable {
    enum Kind: String, Sendable { case localFirebase, localSupabase, configured }

    /// What the page can do with a backend.
    struct Abilities: Sendable {
        var accounts = false
        var sessions = false
        var factors = false
        var files = false
        var messages = false
        var actAs = false
        /// Whether claims and assurance level can be chosen freely.
        var claims = false

        /// Everything but a list of sessions.
        static let ofLocalServer = Abilities(
            accounts: true, factors: true, files: true, messages: true, actAs: true, claims: true)
    }

    /// In paths of the API.
    let id: String
    let kind: Kind
    let name: String
    let address: String
    let provider: InfrastructureProvider
    let source: any ClientsSource
    let abilities: Abilities
    /// `nil` for a backend that is not this process's own.
    let local: (any LocalSide)?
    let limit: CallLimit
    /// `nil` for the one that the clients have.
    private let ownSender: (any MessageSender)?

    init(
        id: String, kind: Kind, name: String, address: String, provider: InfrastructureProvider,
        source: any ClientsSource, abilities: Abilities, local: (any LocalSide)? = nil,
        sender: (any MessageSender)? = nil
    ) {
        ownSender = sender
        self.id = id
        self.kind = kind
        self.name = name
        self.address = address
        self.provider = provider
        self.source = source
        self.abilities = abilities
        limit = CallLimit(kind == .configured ? 4 : Self.callsBesideClients)
        self.local = local
    }

    /// A local server works in this process, on as many threads as there are cores: one of them stays free for its clients.
    private static var callsBesideClients: Int { max(1, min(4, ProcessInfo.processInfo.activeProcessorCount - 1)) }

    // MARK: Clients

    func storage(_ persona: Persona) async throws -> any StorageClient {
        try await source.clients().storage(persona)
    }

    func files(_ persona: Persona) async throws -> any FileStorageClient {
        try await source.clients().files(persona)
    }

    func admin() async throws -> any AdminClient { try await source.clients().infrastructure.admin() }

    func sender() async throws -> any MessageSender {
        if let ownSender { return ownSender }
        return try await source.clients().infrastructure.messageSender()
    }

    /// - Throws: For a backend that is not this process's own.
    func localSide() throws(PageFailure) -> any LocalSide {
        guard let local else {
            throw .unsupported("The page shows this only of a local server, which it runs beside.")
        }
        return local
    }

    var json: JSON {
        let isLocal = local != nil
        return [
            "id": .string(id), "kind": .string(kind.rawValue), "name": .string(name), "address": .string(address),
            "provider": .string(provider.rawValue),
            "can": [
                "data": true, "undo": true, "requests": .bool(isLocal), "faults": .bool(isLocal),
                "outbox": .bool(isLocal), "rules": .bool(isLocal), "reset": .bool(isLocal),
                "accounts": .bool(abilities.accounts), "sessions": .bool(abilities.sessions),
                "factors": .bool(abilities.factors), "files": .bool(abilities.files),
                "messages": .bool(abilities.messages), "actAs": .bool(abilities.actAs),
                "claims": .bool(abilities.claims),
            ],
        ]
    }
}

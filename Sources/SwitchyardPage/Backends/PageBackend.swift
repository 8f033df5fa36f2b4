package import Switchyard
import SwitchyardBytes

/// A backend that a page shows.
package final class PageBackend: Sendable {
    enum Kind: String, Sendable { case localFirebase, localSupabase, configured }

    /// What the page can do with a backend.
    struct Abilities: Sendable {
        var data = true
        var requests = false
        var faults = false
        var outbox = false
        var accounts = false
        var files = false
        var messages = false
        var actAs = false
        var rules = false
        var reset = false
        var undo = true

        var json: JSON {
            [
                "data": .bool(data), "requests": .bool(requests), "faults": .bool(faults), "outbox": .bool(outbox),
                "accounts": .bool(accounts), "files": .bool(files), "messages": .bool(messages),
                "actAs": .bool(actAs), "rules": .bool(rules), "reset": .bool(reset), "undo": .bool(undo),
            ]
        }
    }

    /// In paths of the API.
    let id: String
    let kind: Kind
    let name: String
    let address: String
    let clients: PageClients
    let abilities: Abilities

    init(
        id: String, kind: Kind, name: String, address: String, clients: PageClients, abilities: Abilities
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.address = address
        self.clients = clients
        self.abilities = abilities
    }

    /// A backend behind clients that are there already, such as those of a configuration. The page shuts them down.
    package static func configured(
        _ infrastructure: Infrastructure, name: String, address: String = ""
    ) async throws(InfrastructureError) -> PageBackend {
        let clients = try await PageClients(infrastructure, acting: nil)
        return PageBackend(
            id: "configured", kind: .configured, name: name, address: address, clients: clients,
            abilities: Abilities())
    }

    /// Whether a collection is a table of the project's own.
    func isTable(_ path: CollectionPath) -> Bool { false }

    var json: JSON {
        [
            "id": .string(id), "kind": .string(kind.rawValue), "name": .string(name), "address": .string(address),
            "provider": .string(clients.infrastructure.storage.provider.rawValue), "can": abilities.json,
        ]
    }
}

import Foundation
package import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
package import SwitchyardLocalFirebase
import SwitchyardProviderHTTP

extension PageBackend {
    /// A local Firebase, with the credential of its project.
    package static func local(_ firebase: LocalFirebase) async throws(InfrastructureError) -> PageBackend {
        let mark = RandomID.make()
        var configuration = FirebaseConfiguration(project: firebase.project, apiKey: "page")
        configuration.bucket = firebase.project + ".appspot.com"
        configuration.emulators = .init(firestore: firebase.host, auth: firebase.host, storage: firebase.host)
        configuration.usesEmulatorVariables = false
        configuration.keepsDocuments = false
        let address = "http://\(firebase.host)"
        configuration.hosts.installations = address
        configuration.hosts.registrations = address
        configuration.hosts.messaging = address
        let module = FirebaseModule(configuration, environment: [:]) {
            MarkedTransport(base: PlatformTransport.make(), mark: mark)
        }
        var selection = InfrastructureSelection(default: .firebase)
        selection.omit(.messaging)
        let infrastructure = try await InfrastructureFactory(module).make(selection)
        let clients = try await PageClients(infrastructure) { user, infrastructure in
            let token = firebase.idToken(for: user.id)
            return try await PageClients.pair(token, of: user, .firebase, infrastructure)
        }
        var abilities = Abilities()
        abilities.actAs = true
        return PageBackend(
            id: "firebase", kind: .localFirebase, name: firebase.project, address: address, clients: clients,
            abilities: abilities)
    }
}

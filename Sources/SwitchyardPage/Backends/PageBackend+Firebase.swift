package import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
package import SwitchyardLocalFirebase
import SwitchyardProviderHTTP
import SwitchyardServerKit

extension PageBackend {
    /// A local Firebase, with the credential of its project.
    package static func local(_ firebase: LocalFirebase) async throws(InfrastructureError) -> PageBackend {
        let mark = RandomID.make()
        let address = firebase.server.url
        var configuration = FirebaseConfiguration(project: firebase.project, apiKey: "page")
        configuration.bucket = firebase.project + ".appspot.com"
        configuration.emulators = .init(firestore: firebase.host, auth: firebase.host, storage: firebase.host)
        configuration.hosts.messaging = address
        configuration.usesEmulatorVariables = false
        configuration.keepsDocuments = false
        let module = FirebaseModule(configuration, environment: [:]) {
            MarkedTransport(base: PlatformTransport.make(), mark: mark)
        }
        let infrastructure = try await InfrastructureFactory(module).make(InfrastructureSelection(default: .firebase))
        let sender = try FirebaseMessageSender(
            configuration, transport: MarkedTransport(base: PlatformTransport.make(), mark: mark)
        ) { _ in "owner" }
        let clients = try await PageClients(infrastructure) { user, infrastructure in
            try await PageClients.pair(FirebaseSide.token(for: user, firebase), of: user, .firebase, infrastructure)
        }
        return PageBackend(
            id: "firebase", kind: .localFirebase, name: firebase.project, address: address, provider: .firebase,
            source: FixedClients(fixed: clients), abilities: .ofLocalServer,
            local: FirebaseSide(firebase: firebase, log: RequestLog(mark: mark)),
            sender: PortableFirebaseSender(base: sender))
    }
}

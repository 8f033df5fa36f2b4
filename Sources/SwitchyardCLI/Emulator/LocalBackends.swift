import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardSupabase

/// The project of a local server, with its own credential.
enum LocalBackends {
    static func settings(of server: LocalFirebase, bucket: String? = nil) -> FirebaseConfiguration {
        // As the vendor names the first bucket of a project.
        var settings = FirebaseConfiguration(
            project: server.project, apiKey: "any", bucket: bucket ?? server.project + ".appspot.com")
        settings.usesEmulatorVariables = false
        settings.emulators = .init(firestore: server.host, auth: server.host, storage: server.host)
        return settings
    }

    static func settings(of server: LocalSupabase, bucket: String) -> SupabaseConfiguration {
        var settings = SupabaseConfiguration(url: server.url.absoluteString, key: Secret(server.anonKey))
        settings.serviceKey = Secret(server.serviceKey)
        settings.bucket = bucket
        return settings
    }
}

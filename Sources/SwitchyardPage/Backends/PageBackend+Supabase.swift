import Foundation
package import Switchyard
import SwitchyardBytes
package import SwitchyardLocalSupabase
import SwitchyardProviderHTTP
import SwitchyardSupabase

extension PageBackend {
    /// A local Supabase, with its service key.
    package static func local(_ supabase: LocalSupabase) async throws(InfrastructureError) -> PageBackend {
        let mark = RandomID.make()
        let address = "http://127.0.0.1:\(supabase.port)"
        var configuration = SupabaseConfiguration(url: address, key: Secret(supabase.anonKey))
        configuration.serviceKey = Secret(supabase.serviceKey)
        configuration.keepsDocuments = false
        let module = SupabaseModule(configuration) {
            MarkedTransport(base: PlatformTransport.make(), mark: mark)
        }
        var selection = InfrastructureSelection(default: .supabase)
        selection.omit(.messaging)
        let infrastructure = try await InfrastructureFactory(module).make(selection)
        let clients = try await PageClients(infrastructure) { user, infrastructure in
            let token = supabase.accessToken(for: user.id)
            return try await PageClients.pair(token, of: user, .supabase, infrastructure)
        }
        var abilities = Abilities()
        abilities.actAs = true
        return PageBackend(
            id: "supabase", kind: .localSupabase, name: "Supabase", address: address, clients: clients,
            abilities: abilities)
    }
}

package import Switchyard
import SwitchyardBytes
package import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase

extension PageBackend {
    /// A local Supabase, with its service key.
    package static func local(_ supabase: LocalSupabase) async throws(InfrastructureError) -> PageBackend {
        let mark = RandomID.make()
        let source = SupabaseClients(supabase, mark: mark)
        do { try await source.refresh() } catch {
            throw error as? InfrastructureError ?? InfrastructureError(.unavailable, PageFailure(error).message)
        }
        var abilities = Abilities.ofLocalServer
        abilities.sessions = true
        return PageBackend(
            id: "supabase", kind: .localSupabase, name: "supabase", address: supabase.server.url, provider: .supabase,
            source: source, abilities: abilities,
            local: SupabaseSide(supabase: supabase, source: source, log: RequestLog(mark: mark)))
    }
}

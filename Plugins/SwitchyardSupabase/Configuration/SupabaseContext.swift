import Foundation
import Switchyard
import SwitchyardWire

/// Everything that a client of the module needs: addresses, transport and session.
struct SupabaseContext: Sendable {
    let configuration: SupabaseConfiguration
    let project: SupabaseProject
    /// Owned by the client, which shuts it down.
    let transport: any Transport
    let session: SupabaseSession
    let module: ModuleContext

    var tokens: SupabaseTokens { session.tokens }

    /// The folder for one service's state; `nil` if nothing is stored. Each project has a separate one, so that queued writes
    /// never go to another project.
    func folder(_ name: String, isShared: Bool = false) throws(InfrastructureError) -> URL? {
        try module.folder("\(name)-\(project.id)", isShared: isShared)
    }
}

import Foundation
import Switchyard
import SwitchyardWire

/// What a client of a module is made with: where everything is, and in whose name it asks.
struct SupabaseSurroundings: Sendable {
    let configuration: SupabaseConfiguration
    let project: SupabaseProject
    /// The client's own: it shuts it down with itself.
    let transport: any Transport
    let session: SupabaseSession
    let context: ModuleContext

    var tokens: SupabaseTokens { session.tokens }

    /// A folder for one service's state; `nil` when nothing is to outlast the process. Projects do not share one: what waits
    /// for the one must not go to another.
    func folder(_ name: String) throws(InfrastructureError) -> URL? { try context.folder("\(name)-\(project.id)") }
}

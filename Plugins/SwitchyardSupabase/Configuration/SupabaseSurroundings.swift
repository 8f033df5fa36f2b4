import Foundation
import Switchyard
import SwitchyardWire

#if !os(Linux)
    import SwitchyardURLSession
#endif

/// What a client of a module is made with: where everything is, and in whose name it asks.
struct SupabaseSurroundings: Sendable {
    let configuration: SupabaseConfiguration
    let project: SupabaseProject
    /// The client's own: it shuts it down with itself.
    let transport: any Transport
    let session: SupabaseSession
    let context: ModuleContext

    var tokens: SupabaseTokens { session.tokens }

    /// A folder for one service's state, made when it is missing; `nil` when nothing is to outlast the process. Projects do
    /// not share one: what waits for the one must not go to another.
    func folder(_ name: String) throws(InfrastructureError) -> URL? {
        guard let parent = context.stateFolder else { return nil }
        let folder = parent.appendingPathComponent("\(name)-\(project.id)", isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw InfrastructureError(
                .localStore, "The state folder “\(folder.path)” cannot be made.", underlying: error)
        }
        return folder
    }
}

enum SupabaseTransport {
    /// What the platform moves bytes with.
    static func make() -> any Transport {
        #if os(Linux)
            CurlTransport()
        #else
            URLSessionTransport()
        #endif
    }
}

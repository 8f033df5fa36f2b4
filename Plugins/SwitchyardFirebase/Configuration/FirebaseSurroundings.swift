import Foundation
import Switchyard
import SwitchyardWire

/// What a client of a module is made with: where everything is, and how to prove who asks.
struct FirebaseSurroundings: Sendable {
    let configuration: FirebaseConfiguration
    let endpoints: FirebaseEndpoints
    /// The client's own: it shuts it down with itself.
    let transport: any Transport
    let tokens: FirebaseTokens
    let context: ModuleContext

    /// Header fields that go with every call to Google's hosts. The key travels here and not in addresses, which are logged.
    var appHeaders: [(String, String)] {
        var headers = [("X-Goog-Api-Client", "gl-swift/ fire/\(FirebaseSurroundings.version)")]
        if !configuration.apiKey.isEmpty { headers.append(("x-goog-api-key", configuration.apiKey.reveal())) }
        if let appID = configuration.appID { headers.append(("X-Firebase-GMPID", appID)) }
        if let bundleID = configuration.bundleID { headers.append(("X-Ios-Bundle-Identifier", bundleID)) }
        return headers
    }

    /// A folder for one service's state, made when it is missing; `nil` when nothing is to outlast the process.
    func folder(_ name: String) throws(InfrastructureError) -> URL? {
        guard let parent = context.stateFolder else { return nil }
        let folder = parent.appendingPathComponent(name, isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw InfrastructureError(
                .localStore, "The state folder “\(folder.path)” cannot be made.", underlying: error)
        }
        return folder
    }

    private static let version = "1.0"
}

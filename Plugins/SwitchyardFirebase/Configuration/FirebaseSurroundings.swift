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

    /// A folder for one service's state; `nil` when nothing is to outlast the process.
    func folder(_ name: String) throws(InfrastructureError) -> URL? { try context.folder(name) }

    private static let version = "1.0"
}

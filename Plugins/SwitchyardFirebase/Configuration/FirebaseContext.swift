import Foundation
import Switchyard
import SwitchyardWire

/// Everything that a client of the module needs: addresses, transport and tokens.
struct FirebaseContext: Sendable {
    let configuration: FirebaseConfiguration
    let endpoints: FirebaseEndpoints
    /// Owned by the client, which shuts it down.
    let transport: any Transport
    let tokens: FirebaseTokens
    let module: ModuleContext

    /// Header fields for every call to Google's hosts. The key is sent here and not in the URL, which may be logged.
    var appHeaders: [(String, String)] {
        var headers = [("X-Goog-Api-Client", "gl-swift/ fire/\(FirebaseContext.version)")]
        if !configuration.apiKey.isEmpty { headers.append(("x-goog-api-key", configuration.apiKey.reveal())) }
        if let appID = configuration.appID { headers.append(("X-Firebase-GMPID", appID)) }
        if let bundleID = configuration.bundleID { headers.append(("X-Ios-Bundle-Identifier", bundleID)) }
        return headers
    }

    /// The folder for one service's state; `nil` if nothing is stored.
    func folder(_ name: String, isShared: Bool = false) throws(InfrastructureError) -> URL? {
        try module.folder(name, isShared: isShared)
    }

    private static let version = "1.0"
}

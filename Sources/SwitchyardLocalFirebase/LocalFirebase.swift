public import Foundation
import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// A Firebase on this machine, for development and tests: accounts, documents with live queries, files and messages.
///
/// ```swift
/// let firebase = try await LocalFirebase()
/// print(firebase.summary)
/// ```
///
/// It listens on loopback addresses only, so no other machine reaches it, and it is no place for real secrets. All
/// services share one port, at the paths where the vendor's own emulators have them: point
/// `FIREBASE_AUTH_EMULATOR_HOST`, `FIRESTORE_EMULATOR_HOST` and `FIREBASE_STORAGE_EMULATOR_HOST` to ``host``.
public final class LocalFirebase: Sendable {
    public let project: String
    public let port: UInt16
    /// Faults to be switched on while it runs.
    package let faults: FaultSwitches
    package let server: LoopbackServer
    package let auth: LocalAuth
    package let firestore: LocalFirestore
    package let files: LocalStorage
    package let messaging: LocalMessaging
    private let services: [any LocalFirebaseService]
    private let folder: LocalFolder?
    private let rules: LocalRules

    /// Starts listening.
    ///
    /// - Throws: When the port is taken, or what the folder holds cannot be read.
    public init(_ options: LocalFirebaseOptions = LocalFirebaseOptions()) throws(LocalFirebaseError) {
        let folder = try options.folder.map { url throws(LocalFirebaseError) in try LocalFolder(url) }
        let auth = try LocalAuth(options, folder: folder)
        let rules = LocalRules(isOpen: options.allowsEverything, hasDomain: options.hasDomainRules)
        let firestore = try LocalFirestore(options, folder: folder, identities: auth, rules: rules)
        let files = try LocalStorage(
            rules: rules, identities: auth, project: options.project,
            folder: folder?.url.appendingPathComponent("files", isDirectory: true), now: options.now)
        let messaging = try LocalMessaging(options, folder: folder, seal: auth.seal)
        let services: [any LocalFirebaseService] = [auth, firestore, files, messaging]
        var router = Router()
        for service in services { service.addRoutes(to: &router) }
        LocalControl(project: options.project, auth: auth, faults: firestore.streamFaults).addRoutes(to: &router)
        var configuration = ServerConfiguration()
        configuration.port = options.port
        configuration.faultControlPath = "/_faults"
        do throws(ServerError) {
            let routes = CrossOrigin(
                router: router, exposed: "x-client-wire-protocol, x-http-session-id, x-http-initial-response",
                allowsCredentials: true)
            server = try LoopbackServer(configuration) { await routes.answer($0) }
        } catch {
            throw LocalFirebaseError(LocalFirebase.reason(error, port: options.port))
        }
        auth.setOrigin(server.url)
        project = options.project
        port = server.port
        faults = server.faults
        self.rules = rules
        self.folder = folder
        self.auth = auth
        self.firestore = firestore
        self.files = files
        self.messaging = messaging
        self.services = services
    }

    /// Closes all connections; returns when nothing runs any more. What was kept in a folder stays there.
    public func stop() async {
        await server.stop()
        for service in services { await service.stop() }
        folder?.release()
    }

    /// Whether everybody may read and write everything; may be switched while it runs.
    public var allowsEverything: Bool {
        get { rules.isOpen }
        set { rules.isOpen = newValue }
    }

    /// Such as "http://127.0.0.1:8080".
    public var url: URL { URL(string: server.url)! }

    /// Such as "127.0.0.1:8080": what the variables for emulator hosts want.
    public var host: String { "\(server.addresses[0]):\(port)" }

    /// Where it says which project it serves and with which keys it signs.
    static let descriptionPath = "/_firebase"

    /// The keys that its ID tokens are signed with, as a list in JSON; empty where they are not signed.
    public var publishedKeys: String { JSON.array(auth.signer.publicKeys.map(\.json)).text() }

    /// What a client of the vendor, or of Switchyard, looks for in its environment.
    public var environment: [String: String] {
        [
            "FIREBASE_AUTH_EMULATOR_HOST": host, "FIRESTORE_EMULATOR_HOST": host,
            "FIREBASE_STORAGE_EMULATOR_HOST": host, "GCLOUD_PROJECT": project,
        ]
    }

    /// Its addresses, for a terminal.
    public var summary: String {
        let variables = environment.sorted { $0.key < $1.key }.map { "    export \($0.key)=\($0.value)" }
        return
            ([
                "Local Firebase for project “\(project)” at \(server.url)",
                "It is reachable from this machine only (\(server.addresses.map { "\($0)" }.joined(separator: ", "))).",
                allowsEverything
                    ? "Access is open: everybody may do everything." : "Documents and files belong to their owners.",
                auth.signer.publicKeys.isEmpty
                    ? "ID tokens are not signed, like those of the vendor's emulator."
                    : "ID tokens are signed; \(server.url)\(LocalFirebase.descriptionPath) publishes the key.",
            ] + variables).joined(separator: "\n")
    }

    /// An ID token for `userID`, with whom no account needs to go: for tests of what people may do.
    public func idToken(for userID: String) -> String { auth.idToken(for: userID) }

    /// Lets the ID tokens of a person run out, or everybody's; refreshing gives new ones.
    public func expireTokens(of userID: String? = nil) { auth.expireTokens(of: userID) }

    private static func reason(_ error: ServerError, port: UInt16) -> String {
        switch error {
        case .cannotListen(let code): "The local Firebase cannot listen on port \(port) (system error \(code))."
        default: "The local Firebase cannot start: \(error)."
        }
    }
}

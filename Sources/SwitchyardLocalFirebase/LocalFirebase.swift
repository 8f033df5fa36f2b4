public import Foundation
public import Switchyard
import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// A Firebase on this machine, for development and tests: accounts, documents with live queries, files and messages.
///
/// ```swift
/// let firebase = try LocalFirebase()
/// print(firebase.summary)
/// ```
///
/// It listens on loopback addresses only, so other machines cannot reach it. Do not put real secrets into it. All services
/// share one port, at the paths of the vendor's own emulators: point `FIREBASE_AUTH_EMULATOR_HOST`, `FIRESTORE_EMULATOR_HOST`
/// and `FIREBASE_STORAGE_EMULATOR_HOST` to ``host``.
public final class LocalFirebase: Sendable {
    public let project: String
    public let port: UInt16
    /// Simulated faults, which can be switched on while it runs.
    package let faults: FaultSwitches
    package let server: LoopbackServer
    package let auth: LocalAuth
    package let firestore: LocalFirestore
    package let files: LocalFirebaseFileStorage
    package let messaging: LocalMessaging
    private let services: [any LocalFirebaseService]
    private let folder: LocalFolder?
    private let rules: LocalRules

    /// Starts listening.
    ///
    /// - Throws: If the port is taken, or the folder cannot be read.
    public init(_ options: LocalFirebaseOptions = LocalFirebaseOptions()) throws(LocalFirebaseError) {
        if let wrong = options.origins.first(where: { !ServerVisitors.isOrigin($0) }) {
            throw LocalFirebaseError(
                "“\(wrong)” is not the origin of a web page. Write it as browsers do, such as https://app.example.com.")
        }
        let folder = try options.folder.map { url throws(LocalFirebaseError) in try LocalFolder(url) }
        let auth = try LocalAuth(options, folder: folder)
        let rules = LocalRules(isOpen: options.allowsEverything, hasDomain: options.hasDomainRules)
        let firestore = try LocalFirestore(options, folder: folder, identities: auth, rules: rules)
        let files = try LocalFirebaseFileStorage(
            rules: rules, identities: auth, project: options.project,
            folder: folder?.url.appendingPathComponent("files", isDirectory: true), now: options.now)
        let messaging = try LocalMessaging(options, folder: folder, seal: auth.seal)
        let cloud = CloudStorage(files: files)
        let services: [any LocalFirebaseService] = [auth, firestore, files, cloud, messaging]
        var router = Router()
        for service in services { service.addRoutes(to: &router) }
        LocalControl(project: options.project, auth: auth, faults: firestore.streamFaults).addRoutes(to: &router)
        cloud.addAddresses(to: &router)
        var configuration = ServerConfiguration()
        configuration.port = options.port
        configuration.faultControlPath = "/_faults"
        configuration.http2Refusal = LocalFirestore.grpcRefusal
        configuration.visitors = ServerVisitors(
            origins: options.origins, controlPaths: ["/_", "/emulator/v1/"],
            remedy: "name it when you start the server: --origin, or LocalFirebaseOptions.origins.")
        do throws(ServerError) {
            let routes = CrossOrigin(
                router: router, exposed: "x-client-wire-protocol, x-http-session-id, x-http-initial-response",
                allowsCredentials: true)
            server = try LoopbackServer(configuration, preferring: folder?.port ?? 0) { await routes.answer($0) }
        } catch {
            throw LocalFirebaseError(LocalFirebase.reason(error, port: options.port))
        }
        try folder?.save(port: server.port)
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

    /// Closes all connections, and returns when everything has stopped. Data in the folder stays.
    public func stop() async {
        await server.stop()
        for service in services { await service.stop() }
        folder?.release()
    }

    /// Whether everyone may read and write everything; can be changed while it runs.
    public var allowsEverything: Bool {
        get { rules.isOpen }
        set { rules.isOpen = newValue }
    }

    /// Such as "http://127.0.0.1:8080".
    public var url: URL { URL(string: server.url)! }

    /// Such as "127.0.0.1:8080": the format of the emulator host variables.
    public var host: String { "\(server.addresses[0]):\(port)" }

    /// The path at which it describes its project and signing keys.
    static let descriptionPath = "/_firebase"

    /// The public keys for its ID tokens, as a JSON list; empty if tokens are not signed.
    public var publishedKeys: String { JSON.array(auth.signer.publicKeys.map(\.json)).text() }

    /// The environment variables for clients of the vendor and of Switchyard.
    public var environment: [String: String] {
        [
            "FIREBASE_AUTH_EMULATOR_HOST": host, "FIRESTORE_EMULATOR_HOST": host,
            "FIREBASE_STORAGE_EMULATOR_HOST": host, "STORAGE_EMULATOR_HOST": server.url, "GCLOUD_PROJECT": project,
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
                    ? "Access is open: everyone may do everything."
                    : "Only a user may write users/ID and below it; all who are signed in share the rest.",
                "Firestore has REST and WebChannel, not gRPC: programs in Node need preferRest: true in Firestore's settings.",
                auth.signer.publicKeys.isEmpty
                    ? "ID tokens are not signed, like those of the vendor's emulator."
                    : "ID tokens are signed; \(server.url)\(LocalFirebase.descriptionPath) publishes the key.",
            ] + variables).joined(separator: "\n")
    }

    /// An ID token for `userID`, who needs no account. For tests of access rules.
    public func idToken(for userID: String) -> String { auth.idToken(for: userID) }

    /// Expires the ID tokens of a user, or of all users; refreshing returns new ones.
    public func expireTokens(of userID: String? = nil) { auth.expireTokens(of: userID) }

    private static func reason(_ error: ServerError, port: UInt16) -> String {
        switch error {
        case .cannotListen(let code):
            "The local Firebase cannot listen on port \(port): \(SystemFailure(code)). End the program that uses the port, or "
                + "choose another with --port."
        default: "The local Firebase cannot start: \(error)."
        }
    }
}

/// The options of a local Firebase. All are optional.
public struct LocalFirebaseOptions: Sendable {
    /// The project that it serves; the name goes into every token.
    public var project = "demo-switchyard"
    /// 0 picks a free one; with a ``folder``, the one of the last time if it is still free.
    public var port: UInt16 = 0
    /// Whether everyone may read and write everything. Otherwise the access rules in <doc:RunningALocalFirebase> apply.
    public var allowsEverything = false
    /// Whether documents of users, contacts, check-ins and notifications are protected by the rules for these clients, which
    /// a project that uses them has to publish. Other documents are not affected.
    public var hasDomainRules = false
    /// Whether ID tokens are signed, with a key whose public half the server publishes, as in production. Otherwise they have
    /// no signature, like those of the vendor's emulator, because the vendor's programs require that; then anyone on this
    /// machine can write one.
    public var signsTokens = false
    /// The signing key to use instead of a new one, which takes seconds to make in a debug build.
    package var tokenKey: RSAPrivateKey?
    /// Custom claims that every new account gets, such as `["role": "authenticated"]` for tokens that a Supabase should
    /// accept.
    public var claims: [String: String] = [:]
    /// Origins of web pages elsewhere that may use it, such as `https://app.example.com`; pages on this machine always may.
    public var origins: Set<String> = []
    /// The folder for accounts, documents and files, so that they outlive the process; with `nil`, they live in memory. Use one
    /// folder per local Firebase.
    public var folder: URL?
    /// The clock for the expiry of tokens and codes, and for document times.
    public var now: @Sendable () -> Timestamp = { Timestamp(Date()) }

    public init() {}
}

/// Why a local Firebase cannot start.
public struct LocalFirebaseError: Error, Sendable, CustomStringConvertible {
    public let message: String

    package init(_ message: String) { self.message = message }

    public var description: String { message }
}

extension LocalFirebaseError: ServerStartError {}

/// The folder of a local Firebase.
package typealias LocalFolder = ServerFolder<LocalFirebaseError>

/// One of the services of a ``LocalFirebase``.
package protocol LocalFirebaseService: Sendable {
    /// Adds its routes. If two routes match a request, the one added first wins.
    func addRoutes(to router: inout Router)

    /// Stops its tasks. When this is called, the server no longer accepts requests.
    func stop() async
}

extension LocalFirebaseService {
    package func stop() async {}
}

/// Requests about the whole server: whether it is running, and faults other than request faults.
struct LocalControl: LocalFirebaseService {
    let project: String
    let auth: LocalAuth
    let faults: StreamFaults

    func addRoutes(to router: inout Router) {
        router.on(.get, "/") { _ in
            .json(
                JSON.object([
                    "authEmulator": [
                        "ready": true, "docs": "https://firebase.google.com/docs/emulator-suite",
                        "apiSpec": "/emulator/openapi.json",
                    ]
                ]).bytes())
        }
        // For another vendor's local server that accepts tokens of this one.
        router.on(.get, LocalFirebase.descriptionPath) { [project, keys] _ in
            .json(JSON.object(["project": .string(project), "keys": keys]).bytes())
        }
        let published = "/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        router.on(.get, published) { [keys] _ in .json(JSON.object(["keys": keys]).bytes()) }
        router.on(.post, "/emulator/v1/projects/{project}/streamFaults") { request in
            guard request.parameters["project"] == project else { return ServerResponse(status: 404) }
            guard let bytes = try? await request.body.collect(upTo: 1 << 16), let json = try? JSON(parsing: bytes),
                let switches = json.object, switches.allSatisfy({ set($0.key, $0.value) })
            else { return .text("There is a switch here that cannot be read.\n", status: 400) }
            return .json(JSON.object([:]).bytes())
        }
    }

    private var keys: JSON { .array(auth.signer.publicKeys.map(\.json)) }

    /// - Returns: Whether the switch exists.
    private func set(_ name: String, _ value: JSON) -> Bool {
        switch (name, value.int, value.bool) {
        case ("duplicateArrays", let frames?, _): faults.duplicateArrays(inNext: frames)
        case ("reorderArrays", let frames?, _): faults.reorderArrays(inNext: frames)
        case ("misstateCount", let difference?, _): faults.misstateCounts(by: difference)
        case ("expireTokens", _, true?): auth.expireTokens(of: nil)
        default: return false
        }
        return true
    }
}

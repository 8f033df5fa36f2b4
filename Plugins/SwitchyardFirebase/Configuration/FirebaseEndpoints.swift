import Switchyard
import SwitchyardProviderHTTP
import SwitchyardWire

/// One of Firebase's services: where it is, and whether a token may travel there.
struct FirebaseEndpoint: Sendable, Hashable {
    /// Without a slash at the end.
    let address: String
    let isEmulator: Bool
    /// Over TLS, to this very machine, or where the configuration allows it.
    let mayCarryTokens: Bool

    /// - Parameters:
    ///   - address: Without a slash at the end.
    ///   - plainHost: To which machine of a private network tokens may travel in clear text.
    /// - Throws: `.invalidConfiguration` for an invalid address.
    init(
        host address: String, isEmulator: Bool = false, plainHost: String? = nil
    ) throws(InfrastructureError) {
        let parts: URLParts
        do throws(TransportError) {
            parts = try URLParts(validating: address)
        } catch {
            throw FirebaseEndpoint.problem(address, error.message)
        }
        guard parts.scheme == "https" || parts.scheme == "http" else {
            throw FirebaseEndpoint.problem(address, "it is neither http nor https")
        }
        guard parts.query == nil, !address.hasSuffix("/") else {
            throw FirebaseEndpoint.problem(address, "it ends with a slash or a query")
        }
        self.address = address
        self.isEmulator = isEmulator
        mayCarryTokens = parts.mayCarrySecrets(plainTo: plainHost)
    }

    init(emulator: String, path: String = "", plainHost: String? = nil) throws(InfrastructureError) {
        let address = emulator.hasPrefix("http://") || emulator.hasPrefix("https://") ? emulator : "http://\(emulator)"
        try self.init(host: address + path, isEmulator: true, plainHost: plainHost)
    }

    private static func problem(_ address: String, _ what: String) -> InfrastructureError {
        InfrastructureError(.invalidConfiguration, "The Firebase host “\(address)” cannot be used: \(what).")
    }
}

/// Where all services of a project are.
struct FirebaseEndpoints: Sendable, Hashable {
    let firestore: FirebaseEndpoint
    /// `…/v1/accounts:signUp` and the like follow; an emulator has the production host's name in its path.
    let identityToolkit: FirebaseEndpoint
    let secureToken: FirebaseEndpoint
    let storage: FirebaseEndpoint
    let installations: FirebaseEndpoint
    let registrations: FirebaseEndpoint
    let messaging: FirebaseEndpoint
    /// Where the keys are published that sign the project's tokens.
    let publishedKeys: FirebaseEndpoint
    /// What signs in the names of service accounts.
    let accountCredentials: FirebaseEndpoint

    init(_ configuration: FirebaseConfiguration, environment: [String: String]) throws(InfrastructureError) {
        let plainHost = configuration.allowsPlainHTTPTo
        try PlainHTTP.check(plainHost, of: "Firebase")
        let hosts = configuration.hosts
        let variables = configuration.usesEmulatorVariables ? environment : [:]
        let emulators = configuration.emulators.filled(from: FirebaseConfiguration.Emulators(environment: variables))
        func endpoint(
            _ host: String, _ emulator: String?, _ path: String = ""
        ) throws(InfrastructureError) -> FirebaseEndpoint {
            if let emulator { return try FirebaseEndpoint(emulator: emulator, path: path, plainHost: plainHost) }
            return try FirebaseEndpoint(host: host, plainHost: plainHost)
        }
        firestore = try endpoint(hosts.firestore, emulators.firestore)
        identityToolkit = try endpoint(hosts.identityToolkit, emulators.auth, "/identitytoolkit.googleapis.com")
        secureToken = try endpoint(hosts.secureToken, emulators.auth, "/securetoken.googleapis.com")
        storage = try endpoint(hosts.storage, emulators.storage)
        installations = try endpoint(hosts.installations, nil)
        registrations = try endpoint(hosts.registrations, nil)
        messaging = try endpoint(hosts.messaging, nil)
        accountCredentials = try endpoint("https://iamcredentials.googleapis.com", nil)
        publishedKeys = try endpoint("https://www.googleapis.com", emulators.auth, "/www.googleapis.com")
    }
}

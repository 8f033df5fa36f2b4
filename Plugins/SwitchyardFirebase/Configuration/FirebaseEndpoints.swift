public import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardProviderHTTP
import SwitchyardWire

/// The address of one Firebase service, and whether tokens may be sent to it.
struct FirebaseEndpoint: Sendable, Hashable {
    /// Without a trailing slash.
    let address: String
    let isEmulator: Bool
    /// Whether it uses TLS, is on this machine, or is allowed by the configuration.
    let mayCarryTokens: Bool

    /// - Parameters:
    ///   - address: Without a trailing slash.
    ///   - source: Where it was set, for error messages.
    ///   - plainHost: A host in a private network to which tokens may be sent in plain HTTP.
    /// - Throws: `.invalidConfiguration` for an invalid address.
    init(
        host address: String, at source: AddressSource = .answer, isEmulator: Bool = false, plainHost: String? = nil
    ) throws(InfrastructureError) {
        let parts: URLParts
        do throws(TransportError) {
            parts = try URLParts(validating: address)
        } catch {
            throw source.problem(address, error.message)
        }
        guard parts.scheme == "https" || parts.scheme == "http" else {
            throw source.problem(address, "it is neither http nor https")
        }
        guard parts.query == nil, !address.hasSuffix("/") else {
            throw source.problem(address, "it ends with a slash or a query; leave that out")
        }
        self.address = address
        self.isEmulator = isEmulator
        mayCarryTokens = parts.mayCarrySecrets(plainTo: plainHost)
    }

    fileprivate init(
        _ emulator: EmulatorAddress, path: String, plainHost: String?
    ) throws(InfrastructureError) {
        try self.init(
            host: try emulator.origin() + path, at: emulator.source, isEmulator: true, plainHost: plainHost)
    }
}

/// Where an address was set, and its expected form.
struct AddressSource: Sendable {
    private let name: String
    private let form: String

    private init(_ name: String, _ form: String) {
        self.name = name
        self.form = form
    }

    static func host(_ key: String) -> AddressSource {
        AddressSource(
            "Firebase's configuration, at “hosts.\(key)”",
            "Write an address such as “https://example.com”, without a slash at the end.")
    }
    static func emulator(_ key: String) -> AddressSource {
        AddressSource("Firebase's configuration, at “emulators.\(key)”", hostAndPort)
    }
    static func variable(_ name: String) -> AddressSource { AddressSource("The variable \(name)", hostAndPort) }
    /// An address returned by a server.
    static let answer = AddressSource(
        "An address of Firebase", "Check hosts and emulators in Firebase's configuration.")

    private static let hostAndPort = "Write host:port, such as “127.0.0.1:8080”."

    func problem(_ address: String, _ what: String) -> InfrastructureError {
        InfrastructureError(
            .invalidConfiguration, "\(name): \(Secret.shown(address)) cannot be used: \(what). \(form)")
    }
}

/// The address of an emulator as written in the settings.
private struct EmulatorAddress {
    let text: String
    let source: AddressSource

    /// - Parameters:
    ///   - set: The configured value at `key`.
    ///   - fallback: The value of the environment's `variable`.
    init?(_ key: String, _ set: String?, or variable: String, _ fallback: String?) {
        if let set {
            text = set
            source = .emulator(key)
        } else if let fallback {
            text = fallback
            source = .variable(variable)
        } else {
            return nil
        }
    }

    /// `http://host:port`. The setting may also have this form.
    func origin() throws(InfrastructureError) -> String {
        guard !text.isEmpty else { throw source.problem(text, "it is empty") }
        let hasScheme = text.includes("://")
        let address = hasScheme ? text : "http://\(text)"
        let origin = address.hasSuffix("/") ? String(address.dropLast()) : address
        let parts: URLParts
        do throws(TransportError) {
            parts = try URLParts(validating: origin)
        } catch {
            throw source.problem(text, error.message)
        }
        guard parts.path.isEmpty, parts.query == nil else {
            throw source.problem(text, "it continues after the port")
        }
        guard parts.port != nil || hasScheme else { throw source.problem(text, "it has no port") }
        return origin
    }
}

/// The addresses of all services of a project.
struct FirebaseEndpoints: Sendable, Hashable {
    let firestore: FirebaseEndpoint
    /// Followed by `…/v1/accounts:signUp` and the like; an emulator has the production host's name in its path.
    let identityToolkit: FirebaseEndpoint
    let secureToken: FirebaseEndpoint
    let storage: FirebaseEndpoint
    let installations: FirebaseEndpoint
    let registrations: FirebaseEndpoint
    let messaging: FirebaseEndpoint
    /// Publishes the keys that sign the project's tokens.
    let publishedKeys: FirebaseEndpoint
    /// Signs in the name of service accounts.
    let accountCredentials: FirebaseEndpoint

    init(_ configuration: FirebaseConfiguration, environment: [String: String]) throws(InfrastructureError) {
        let plainHost = configuration.allowsPlainHTTPTo
        try PlainHTTP.check(plainHost, of: "Firebase")
        let hosts = configuration.hosts
        let set = configuration.emulators
        let variables = FirebaseConfiguration.Emulators(
            environment: configuration.usesEmulatorVariables ? environment : [:])
        let documents = EmulatorAddress("firestore", set.firestore, or: "FIRESTORE_EMULATOR_HOST", variables.firestore)
        let accounts = EmulatorAddress("auth", set.auth, or: "FIREBASE_AUTH_EMULATOR_HOST", variables.auth)
        let files = EmulatorAddress("storage", set.storage, or: "FIREBASE_STORAGE_EMULATOR_HOST", variables.storage)
        func endpoint(
            _ key: String, _ host: String, _ emulator: EmulatorAddress? = nil, _ path: String = ""
        ) throws(InfrastructureError) -> FirebaseEndpoint {
            if let emulator { return try FirebaseEndpoint(emulator, path: path, plainHost: plainHost) }
            return try FirebaseEndpoint(host: host, at: .host(key), plainHost: plainHost)
        }
        firestore = try endpoint("firestore", hosts.firestore, documents)
        identityToolkit = try endpoint(
            "identityToolkit", hosts.identityToolkit, accounts, "/identitytoolkit.googleapis.com")
        secureToken = try endpoint("secureToken", hosts.secureToken, accounts, "/securetoken.googleapis.com")
        storage = try endpoint("storage", hosts.storage, files)
        installations = try endpoint("installations", hosts.installations)
        registrations = try endpoint("registrations", hosts.registrations)
        messaging = try endpoint("messaging", hosts.messaging)
        accountCredentials = try FirebaseEndpoint(host: "https://iamcredentials.googleapis.com")
        publishedKeys = try endpoint(
            "publishedKeys", "https://www.googleapis.com", accounts, "/www.googleapis.com")
    }
}

/// A source of App Check tokens, which prove that a request comes from the genuine app.
///
/// How an app proves this (DeviceCheck, Play Integrity, a debug token of the console) depends on the platform and is up to the
/// app; the app or its server exchanges the proof for a token at the App Check service. The source caches the token and renews
/// it before it expires; it is called once per request.
public struct FirebaseAppCheck: Sendable {
    let token: @Sendable (_ isRefused: Bool) async throws -> Secret

    /// - Parameter token: Returns the current token, or a new one if `isRefused` is set, because the server refused the last.
    public init(token: @escaping @Sendable (_ isRefused: Bool) async throws -> Secret) { self.token = token }

    /// A token that is valid as long as the process runs, for tests.
    public static func fixed(_ token: Secret) -> FirebaseAppCheck { FirebaseAppCheck { _ in token } }
}

/// Security rules for Firestore, ready to publish.
public enum FirestoreRules {
    /// Rules for the clients of users, contacts, check-ins and notifications, and for the ledger of writes: a complete file, to
    /// which an app adds the rules of its own collections. `switchyard firebase rules` prints it.
    ///
    /// Users own their documents; contacts can do what these clients do for them, and other users nothing.
    public static var domain: String { FirestoreRulesText.domain }
}

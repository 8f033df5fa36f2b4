import Foundation
public import Switchyard
import SwitchyardProviderKit

/// The settings of a Firebase project.
///
/// In a configuration file the names are the same. Write only what differs from the defaults:
///
/// ```json
/// { "project": "demo", "apiKey": "${FIREBASE_API_KEY}", "appID": "1:123:web:abc", "bucket": "demo.firebasestorage.app",
///   "writeLedger": "ledger", "emulators": { "firestore": "127.0.0.1:8080" } }
/// ```
/// ``init(appFile:app:)`` reads the files that the Firebase console offers for download. On a server a ``credential`` can be
/// enough, see ``init(credential:)``.
public struct FirebaseConfiguration: Sendable, Hashable {
    /// The project's ID, not its number. If it is empty and there is a ``credential``, the ID comes from the key file, or
    /// else from the variable `GOOGLE_CLOUD_PROJECT` or `GCLOUD_PROJECT`.
    public var project: String
    /// The web API key. It identifies the project and protects nothing, but is never printed all the same. Programs with a
    /// ``credential`` need none unless they sign users in.
    public var apiKey: Secret
    /// The project's own credential, for servers and tools, never for an app. Requests for which no user is signed in are then
    /// made in the project's name and bypass security rules.
    public var credential: FirebaseCredential?
    /// The email address of the service account that signs custom tokens if the ``credential`` has no key of its own; see
    /// <doc:Setup>. `nil` uses the machine's account, or the one that workload identity acts for.
    public var serviceAccount: String?
    /// The app's ID, `1:123…:web:abc…`. Messaging needs it.
    public var appID: String?
    /// The project's number, for messaging.
    public var senderID: String?
    /// The bundle identifier, for an API key that is restricted to an Apple app, and for Apple's push service.
    public var bundleID: String?
    /// The bucket for files. It cannot be derived from the project's ID.
    public var bucket: String?
    /// The Firestore database.
    public var database: String

    /// The collection that records batches which must not take effect twice; see <doc:Ledger>. Without it, an increment whose
    /// answer was lost may count twice.
    public var writeLedger: CollectionPath?
    /// Whether a transaction locks the documents it reads on the server, so that others wait, instead of checking at the end that
    /// nothing has changed. For documents that many clients change at the same time.
    public var locksInTransactions: Bool
    /// Whether documents and queued writes are stored in the state folder. Otherwise, and without such a folder, they are lost
    /// with the client.
    public var keepsDocuments: Bool
    /// The approximate size of the cache, in bytes. Above it, the least recently used documents are dropped.
    public var cacheBytes: Int64
    /// How long file calls are retried while the server cannot be reached, and how long a transfer goes on without moving a
    /// byte. Half a minute and ten minutes by default. `patienceSeconds` in a file.
    public var patience: Duration?

    /// The addresses of the services.
    public var hosts: Hosts
    /// The services that run on a local emulator, each as `host:port`.
    public var emulators: Emulators
    /// Whether the environment's `FIRESTORE_EMULATOR_HOST`, `FIREBASE_AUTH_EMULATOR_HOST` and
    /// `FIREBASE_STORAGE_EMULATOR_HOST` are used where ``emulators`` sets nothing.
    public var usesEmulatorVariables: Bool
    /// A host in a private network to which tokens may be sent in plain HTTP, such as `192.168.1.20`, so that a phone can reach
    /// the emulators on your machine. Public addresses are refused. Do not ship it.
    public var allowsPlainHTTPTo: String?

    public init(
        project: String, apiKey: Secret = "", credential: FirebaseCredential? = nil,
        serviceAccount: String? = nil, appID: String? = nil,
        senderID: String? = nil, bundleID: String? = nil,
        bucket: String? = nil, database: String = "(default)", writeLedger: CollectionPath? = nil,
        locksInTransactions: Bool = false, keepsDocuments: Bool = true, cacheBytes: Int64 = 100 << 20,
        patience: Duration? = nil,
        hosts: Hosts = Hosts(),
        emulators: Emulators = Emulators(), usesEmulatorVariables: Bool = true,
        allowsPlainHTTPTo: String? = nil
    ) {
        self.project = project
        self.apiKey = apiKey
        self.credential = credential
        self.serviceAccount = serviceAccount
        self.appID = appID
        self.senderID = senderID
        self.bundleID = bundleID
        self.bucket = bucket
        self.database = database
        self.writeLedger = writeLedger
        self.locksInTransactions = locksInTransactions
        self.keepsDocuments = keepsDocuments
        self.cacheBytes = cacheBytes
        self.patience = patience
        self.hosts = hosts
        self.emulators = emulators
        self.usesEmulatorVariables = usesEmulatorVariables
        self.allowsPlainHTTPTo = allowsPlainHTTPTo
    }

    /// For servers and tools: the ``project`` is found by its credential.
    public init(credential: FirebaseCredential) { self.init(project: "", credential: credential) }
}

extension FirebaseConfiguration {
    /// Addresses without a trailing slash; by default Google's.
    public struct Hosts: Sendable, Hashable, Codable {
        public var firestore = "https://firestore.googleapis.com"
        public var identityToolkit = "https://identitytoolkit.googleapis.com"
        public var secureToken = "https://securetoken.googleapis.com"
        public var storage = "https://firebasestorage.googleapis.com"
        public var installations = "https://firebaseinstallations.googleapis.com"
        public var registrations = "https://fcmregistrations.googleapis.com"
        public var messaging = "https://fcm.googleapis.com"

        public init() {}

        private enum CodingKeys: String, CodingKey {
            case firestore, identityToolkit, secureToken, storage, installations, registrations, messaging
        }

        /// All keys are optional.
        public init(from decoder: any Decoder) throws {
            self.init()
            let values = try decoder.container(keyedBy: CodingKeys.self)
            firestore = try values.decodeIfPresent(String.self, forKey: .firestore) ?? firestore
            identityToolkit = try values.decodeIfPresent(String.self, forKey: .identityToolkit) ?? identityToolkit
            secureToken = try values.decodeIfPresent(String.self, forKey: .secureToken) ?? secureToken
            storage = try values.decodeIfPresent(String.self, forKey: .storage) ?? storage
            installations = try values.decodeIfPresent(String.self, forKey: .installations) ?? installations
            registrations = try values.decodeIfPresent(String.self, forKey: .registrations) ?? registrations
            messaging = try values.decodeIfPresent(String.self, forKey: .messaging) ?? messaging
        }
    }

    /// Emulators as `host:port`, used over plain HTTP; `http://host:port` means the same.
    public struct Emulators: Sendable, Hashable, Codable {
        public var firestore: String?
        public var auth: String?
        public var storage: String?

        public init(firestore: String? = nil, auth: String? = nil, storage: String? = nil) {
            self.firestore = firestore
            self.auth = auth
            self.storage = storage
        }

        /// From the variables that Firebase's own tools set.
        public init(environment: [String: String]) {
            func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
            self.init(
                firestore: variable("FIRESTORE_EMULATOR_HOST"), auth: variable("FIREBASE_AUTH_EMULATOR_HOST"),
                storage: variable("FIREBASE_STORAGE_EMULATOR_HOST"))
        }
    }
}

extension FirebaseConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case project, apiKey, credential, serviceAccount, appID, senderID, bundleID, bucket, database, writeLedger
        case locksInTransactions, keepsDocuments, cacheBytes, patienceSeconds, hosts, emulators, usesEmulatorVariables,
            allowsPlainHTTPTo
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let credential = try values.decodeIfPresent(FirebaseCredential.self, forKey: .credential)
        self.init(
            // A credential may name the project.
            project: credential == nil
                ? try values.decode(String.self, forKey: .project)
                : try values.decodeIfPresent(String.self, forKey: .project) ?? "",
            // Signing in needs a key; acting for the project does not.
            apiKey: credential == nil
                ? try values.decode(Secret.self, forKey: .apiKey)
                : try values.decodeIfPresent(Secret.self, forKey: .apiKey) ?? "",
            credential: credential)
        serviceAccount = try values.decodeIfPresent(String.self, forKey: .serviceAccount)
        appID = try values.decodeIfPresent(String.self, forKey: .appID)
        senderID = try values.decodeIfPresent(String.self, forKey: .senderID)
        bundleID = try values.decodeIfPresent(String.self, forKey: .bundleID)
        bucket = try values.decodeIfPresent(String.self, forKey: .bucket)
        database = try values.decodeIfPresent(String.self, forKey: .database) ?? database
        if let ledger = try values.decodeIfPresent(String.self, forKey: .writeLedger) {
            do throws(StorageError) {
                writeLedger = try CollectionPath(validating: ledger)
            } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: .writeLedger, in: values, debugDescription: error.message)
            }
        }
        locksInTransactions =
            try values.decodeIfPresent(Bool.self, forKey: .locksInTransactions) ?? locksInTransactions
        keepsDocuments = try values.decodeIfPresent(Bool.self, forKey: .keepsDocuments) ?? keepsDocuments
        cacheBytes = try values.decodeIfPresent(Int64.self, forKey: .cacheBytes) ?? cacheBytes
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .patienceSeconds) {
            patience = try .settings(seconds: seconds, in: 0...86_400, forKey: .patienceSeconds, of: values)
        }
        hosts = try values.decodeIfPresent(Hosts.self, forKey: .hosts) ?? hosts
        emulators = try values.decodeIfPresent(Emulators.self, forKey: .emulators) ?? emulators
        usesEmulatorVariables =
            try values.decodeIfPresent(Bool.self, forKey: .usesEmulatorVariables) ?? usesEmulatorVariables
        allowsPlainHTTPTo = try values.decodeIfPresent(String.self, forKey: .allowsPlainHTTPTo)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if !project.isEmpty || credential == nil { try values.encode(project, forKey: .project) }
        try values.encode(apiKey, forKey: .apiKey)
        try values.encodeIfPresent(credential, forKey: .credential)
        try values.encodeIfPresent(serviceAccount, forKey: .serviceAccount)
        try values.encodeIfPresent(appID, forKey: .appID)
        try values.encodeIfPresent(senderID, forKey: .senderID)
        try values.encodeIfPresent(bundleID, forKey: .bundleID)
        try values.encodeIfPresent(bucket, forKey: .bucket)
        try values.encode(database, forKey: .database)
        try values.encodeIfPresent(writeLedger?.rawValue, forKey: .writeLedger)
        try values.encode(locksInTransactions, forKey: .locksInTransactions)
        try values.encode(keepsDocuments, forKey: .keepsDocuments)
        try values.encode(cacheBytes, forKey: .cacheBytes)
        try values.encodeIfPresent(patience.map { $0 / .milliseconds(1) / 1000 }, forKey: .patienceSeconds)
        try values.encode(hosts, forKey: .hosts)
        try values.encode(emulators, forKey: .emulators)
        try values.encode(usesEmulatorVariables, forKey: .usesEmulatorVariables)
        try values.encodeIfPresent(allowsPlainHTTPTo, forKey: .allowsPlainHTTPTo)
    }
}

extension FirebaseConfiguration {
    /// These settings with their project filled in, and the source of its tokens.
    ///
    /// - Parameter environment: The environment, for the variables of Google's own tools.
    /// - Throws: `.invalidConfiguration` for a credential that cannot be used, and if nothing names a project.
    func resolved(
        environment: [String: String]
    ) throws(InfrastructureError) -> (configuration: FirebaseConfiguration, source: GoogleTokens.Source?) {
        guard let source = try credential?.resolved(environment: environment) else { return (self, nil) }
        // The configured project takes precedence: an account of one project may have roles in another.
        guard project.isEmpty else { return (self, source) }
        let named = source.project.flatMap { $0.isEmpty ? nil : $0 }
        let variables = ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"].compactMap { environment[$0] }
        guard let found = named ?? variables.first(where: { !$0.isEmpty }) else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Firebase's credential names no project. Set project in Firebase's configuration, or the variable "
                    + "GOOGLE_CLOUD_PROJECT.")
        }
        var complete = self
        complete.project = found
        return (complete, source)
    }
}

public import Switchyard

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
    /// The project's ID, not its number. Where it is empty and there is a ``credential``, it is the one that the key file
    /// names, else the one in the variable `GOOGLE_CLOUD_PROJECT` or `GCLOUD_PROJECT`.
    public var project: String
    /// The web API key. It identifies the project and protects nothing, but is never printed all the same. Programs with a
    /// ``credential`` need none unless they sign users in.
    public var apiKey: Secret
    /// The project's own credential, for servers and tools, never for an app. Requests for which nobody is signed in are then
    /// made in the project's name and bypass security rules.
    public var credential: FirebaseCredential?
    /// The address of the service account in whose name custom tokens are signed where the ``credential`` has no key of its own;
    /// see <doc:Setup>. Without it, it is the account of the machine, or the one that workload identity acts for.
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
    /// Whether documents and queued writes are kept in the state folder, if there is one. Otherwise they are lost with the
    /// client.
    public var keepsDocuments: Bool
    /// The approximate size of the cache, in bytes. Above it, the least recently used documents are dropped.
    public var cacheBytes: Int64
    /// How long file calls are retried while the server cannot be reached, and how long a transfer goes on without moving a
    /// byte. Half a minute and ten minutes by default. `patienceSeconds` in a file.
    public var patience: Duration?

    /// Where the services are.
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

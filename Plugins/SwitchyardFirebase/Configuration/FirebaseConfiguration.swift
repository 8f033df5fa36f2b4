public import Switchyard

/// What it takes to reach a Firebase project.
///
/// In a configuration file the names are the same; only what differs from the defaults need be there:
///
/// ```json
/// { "project": "demo", "apiKey": "${FIREBASE_API_KEY}", "appID": "1:123:web:abc", "bucket": "demo.firebasestorage.app",
///   "writeLedger": "ledger", "emulators": { "firestore": "127.0.0.1:8080" } }
/// ```
/// The files that the Firebase console hands out are read by ``init(appFile:app:)``.
public struct FirebaseConfiguration: Sendable, Hashable {
    /// The project's ID, not its number.
    public var project: String
    /// The web API key. It names the project and protects nothing; still it is printed nowhere. Programs with a ``credential``
    /// that sign nobody in need none.
    public var apiKey: Secret
    /// Proves that it is the project itself that asks: for servers and tools, never for an app. What nobody is signed in for is
    /// asked in the project's name then, and rules do not count.
    public var credential: FirebaseCredential?
    /// `1:123…:web:abc…`; needed for messaging.
    public var appID: String?
    /// The project's number, as messaging knows it.
    public var senderID: String?
    /// The bundle identifier, for an API key that is restricted to an Apple app.
    public var bundleID: String?
    /// The bucket for files. There is no rule that leads to it from the project's ID.
    public var bucket: String?
    /// The Firestore database.
    public var database: String

    /// The collection in which batches that must not take effect twice leave a document each; see <doc:Ledger>. Without it
    /// an increment whose answer was lost may count twice.
    public var writeLedger: CollectionPath?
    /// Whether a transaction locks on the server what it reads, so that others wait for it, instead of checking at its end
    /// that nothing has changed. For documents that many want to change at the same time.
    public var locksInTransactions: Bool
    /// Whether documents and queued writes are kept in the state folder, if the app has chosen one. Otherwise they are gone
    /// with the client.
    public var keepsDocuments: Bool
    /// Above about this size, the documents that were not used for longest are dropped from the cache.
    public var cacheBytes: Int64
    /// How long a call about files is tried again while the server cannot be reached, and how long a transfer goes on without
    /// moving a byte. Half a minute and ten minutes when left out. `patienceSeconds` in a file.
    public var patience: Duration?

    /// Where the services are.
    public var hosts: Hosts
    /// Services that run on a local emulator instead, each as `host:port`.
    public var emulators: Emulators
    /// Whether `FIRESTORE_EMULATOR_HOST`, `FIREBASE_AUTH_EMULATOR_HOST` and `FIREBASE_STORAGE_EMULATOR_HOST` of the
    /// environment count for what ``emulators`` leaves open.
    public var usesEmulatorVariables: Bool
    /// A machine of a private network to which tokens may travel in plain HTTP, such as `192.168.1.20`: a phone talks to the
    /// emulators on the developer's own machine that way. Never for a public address, and not for what you ship.
    public var allowsPlainHTTPTo: String?

    public init(
        project: String, apiKey: Secret = "", credential: FirebaseCredential? = nil, appID: String? = nil,
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
}

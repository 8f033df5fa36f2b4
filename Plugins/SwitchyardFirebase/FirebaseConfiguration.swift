public import Switchyard

/// What a Firebase project is reached by.
///
/// ```swift
/// var configuration = FirebaseConfiguration(projectID: "demo", apiKey: "…")
/// configuration.firestoreEmulator = FirebaseConfiguration.EmulatorHost("127.0.0.1", port: 8080)
/// ```
public struct FirebaseConfiguration: Codable, Sendable {
    public var projectID: String
    /// The web API key; not secret in itself, but kept out of logs all the same.
    public var apiKey: Secret
    /// `1:…:web:…`, sent along where it is known.
    public var appID: String?
    /// The Firestore database; a project's first one is called `(default)`.
    public var databaseID: String?
    /// Where a local Firestore listens, instead of the one in the cloud.
    public var firestoreEmulator: EmulatorHost?
    /// A top-level collection in which each batch that cannot be repeated leaves a document of its own, so that a lost
    /// answer is found out and no increment counts twice. Rules must let signed-in users create and read documents there,
    /// and nothing else.
    ///
    /// Without one, a batch with increments whose answer is lost may take effect twice.
    public var writeLedger: String?

    public init(projectID: String, apiKey: Secret) {
        self.projectID = projectID
        self.apiKey = apiKey
    }

    /// A server on this machine, reached without encryption. Tokens go nowhere else in the clear.
    public struct EmulatorHost: Codable, Sendable, Hashable {
        public var host: String
        public var port: Int

        public init(_ host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
        }

        /// Whether it can only be reached from this machine.
        var isLoopback: Bool { ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host) }

        var address: String { "http://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)" }
    }
}

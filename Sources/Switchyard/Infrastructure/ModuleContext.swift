public import Foundation

/// What a module is given to make a client with.
public struct ModuleContext: Sendable {
    /// The chosen auth client, whoever stands behind it: the source of tokens for the client being made. It stays valid when
    /// the choice changes later. `nil` while auth itself is made, or when nothing was chosen for it.
    public let auth: (any AuthClient)?
    /// Time for pauses and deadlines; tests hand in one of their own.
    public let clock: any Clock<Duration>
    /// The time of day, for tokens and time stamps.
    public let now: @Sendable () -> Timestamp
    /// A folder of this provider's own for what must outlast the process; `nil` to keep everything in memory.
    public let stateFolder: URL?
    /// Where to report what happens.
    public let observer: any InfrastructureObserver
    /// What requests call the app; `nil` if it has not said.
    public let program: String?

    public init(
        auth: (any AuthClient)? = nil, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }, stateFolder: URL? = nil,
        observer: any InfrastructureObserver = SilentObserver(), program: String? = nil
    ) {
        self.program = program
        self.auth = auth
        self.clock = clock
        self.now = now
        self.stateFolder = stateFolder
        self.observer = observer
    }
}

/// The clients on which domain clients stand.
public struct CoreClients: Sendable {
    public let auth: any AuthClient
    public let storage: any StorageClient
    /// `nil` when nothing was chosen for files.
    public let files: (any FileStorageClient)?
    public let messaging: (any MessagingClient)?
    public let now: @Sendable () -> Timestamp

    public init(
        auth: any AuthClient, storage: any StorageClient, files: (any FileStorageClient)? = nil,
        messaging: (any MessagingClient)? = nil, now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }
    ) {
        self.auth = auth
        self.storage = storage
        self.files = files
        self.messaging = messaging
        self.now = now
    }
}

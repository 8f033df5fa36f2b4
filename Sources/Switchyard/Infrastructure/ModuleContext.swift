public import Foundation

/// The context in which a module makes a client.
public struct ModuleContext: Sendable {
    /// The selected auth client, on any provider: the source of tokens for the client being made. It stays valid when the
    /// selection changes later. `nil` while auth itself is being made, or if none is selected.
    public var auth: (any AuthClient)? { session?.auth }
    /// The session of ``auth``: who is signed in, now and after every change. Clients that keep something for a user subscribe.
    public let session: SessionFeed?
    /// The clock for pauses and deadlines; tests can replace it.
    public let clock: any Clock<Duration>
    /// The time of day, for tokens and time stamps.
    public let now: @Sendable () -> Timestamp
    /// This provider's folder for data that must outlast the process; `nil` to keep everything in memory.
    public let stateFolder: URL?
    /// Where to report what happens.
    public let observer: any InfrastructureObserver
    /// The app's name in requests; `nil` if it is not set.
    public let program: String?
    /// Limits the calls to one server.
    public let callLimits: CallLimits
    /// How files in the state folder are protected and shared.
    public let localFiles: LocalFileOptions

    public init(
        auth: (any AuthClient)? = nil, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }, stateFolder: URL? = nil,
        observer: any InfrastructureObserver = SilentObserver(), program: String? = nil,
        callLimits: CallLimits = CallLimits(), localFiles: LocalFileOptions = LocalFileOptions()
    ) {
        self.init(
            session: auth.map(SessionFeed.init), clock: clock, now: now, stateFolder: stateFolder, observer: observer,
            program: program, callLimits: callLimits, localFiles: localFiles)
    }

    init(
        session: SessionFeed?, clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp, stateFolder: URL?,
        observer: any InfrastructureObserver, program: String?, callLimits: CallLimits, localFiles: LocalFileOptions
    ) {
        self.localFiles = localFiles
        self.callLimits = callLimits
        self.program = program
        self.session = session
        self.clock = clock
        self.now = now
        self.stateFolder = stateFolder
        self.observer = observer
    }
}

/// The core clients that domain clients are built on.
public struct CoreClients: Sendable {
    public let auth: any AuthClient
    public let storage: any StorageClient
    /// `nil` if no provider is selected for files.
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

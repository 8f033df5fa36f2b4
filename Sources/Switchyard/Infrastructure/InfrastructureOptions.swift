public import Foundation

/// The options of clients: clocks, a folder for their state, an observer and interceptors.
public struct InfrastructureOptions: Sendable {
    /// Time for pauses and deadlines.
    public var clock: any Clock<Duration>
    /// The time of day.
    public var now: @Sendable () -> Timestamp
    /// A folder for data that must outlast the process; a configuration's own takes precedence. `nil` keeps everything in
    /// memory.
    public var stateFolder: URL?
    /// How files in the state folder are protected and shared; a configuration's own takes precedence.
    public var localFiles = LocalFileOptions()
    /// Observes everything that clients do and providers report. ``SilentObserver`` costs nothing.
    public var observer: any InfrastructureObserver
    /// The app's name in requests, such as `MyApp/2.1`. It precedes this package's name in `User-Agent`.
    public var program: String?
    /// Stand around every call, the first one innermost. A configuration's retries are inside all of them, the observer is
    /// outside.
    public var interceptors: [any CallInterceptor] = []
    /// Limits the calls to one server.
    public var callLimits = CallLimits()
    /// How long a switch waits for calls on the old client before it shuts the client down anyway.
    public var drainDeadline: Duration

    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        stateFolder: URL? = nil, observer: any InfrastructureObserver = SilentObserver(),
        drainDeadline: Duration = .seconds(30)
    ) {
        self.clock = clock
        self.now = now
        self.stateFolder = stateFolder
        self.observer = observer
        self.drainDeadline = drainDeadline
    }

    func context(for provider: InfrastructureProvider, _ session: SessionFeed?) -> ModuleContext {
        ModuleContext(
            session: session, clock: clock, now: now,
            stateFolder: stateFolder?.appendingPathComponent(provider.rawValue, isDirectory: true), observer: observer,
            program: program, callLimits: callLimits, localFiles: localFiles)
    }

    /// These options with the folder of `configuration`, if it names one.
    func with(_ configuration: InfrastructureConfiguration) throws(InfrastructureError) -> InfrastructureOptions {
        var options = self
        if let folder = configuration.stateFolder { options.stateFolder = folder }
        if let files = configuration.localFiles { options.localFiles = files }
        options.stateFolder = try options.localFiles.stateFolder(or: options.stateFolder)
        return options
    }
}

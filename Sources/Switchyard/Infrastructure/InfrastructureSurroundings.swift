public import Foundation

/// The surroundings of clients: clocks, a folder for their state, an observer and layers.
public struct InfrastructureSurroundings: Sendable {
    /// Time for pauses and deadlines.
    public var clock: any Clock<Duration>
    /// The time of day.
    public var now: @Sendable () -> Timestamp
    /// A folder for what must outlast the process; a configuration's own takes precedence. `nil` keeps everything in memory.
    public var stateFolder: URL?
    /// Observes everything that clients do, and what their providers report. ``SilentObserver`` costs nothing.
    public var observer: any InfrastructureObserver
    /// What requests call the app, such as `MyApp/2.1`: it goes into their `User-Agent`, before this package's own name.
    public var program: String?
    /// What stands around every client, the closest first. Retries of a configuration are closer still, the observer farther.
    public var layers: [any ClientLayer] = []
    /// How long a switch waits for calls on the old client before it shuts that down all the same.
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

    func context(for provider: InfrastructureProvider, auth: (any AuthClient)?) -> ModuleContext {
        ModuleContext(
            auth: auth, clock: clock, now: now,
            stateFolder: stateFolder?.appendingPathComponent(provider.rawValue, isDirectory: true), observer: observer,
            program: program)
    }

    /// The same with the folder that `configuration` names, if it names one.
    func with(_ configuration: InfrastructureConfiguration) -> InfrastructureSurroundings {
        var surroundings = self
        if let folder = configuration.stateFolder { surroundings.stateFolder = folder }
        return surroundings
    }
}

public import Switchyard
import Synchronization

/// Supplied to check mixed providers and switching between them: two storage providers, each with its own documents, and one
/// auth provider.
public protocol SwitchingHarness: Sendable {
    var features: SwitchingFeatures { get }

    /// A factory for each call. Storage clients that it and its `create` functions make for one provider see the same
    /// documents; those of different providers do not.
    func makeFactory() async throws -> InfrastructureFactory

    /// The initial selection, with the storage of ``SwitchingFeatures/first``.
    var selection: InfrastructureSelection { get }

    /// A collection in `namespace`, with the same path on both providers.
    func collection(_ name: String, in namespace: ConformanceNamespace) throws -> CollectionPath

    /// Signs in a person who exists only in `namespace`, if the storage needs it. The default uses a password.
    func signIn(on auth: any AuthClient, in namespace: ConformanceNamespace) async throws
}

extension SwitchingHarness {
    public func collection(_ name: String, in namespace: ConformanceNamespace) throws -> CollectionPath {
        try CollectionPath(validating: "conformance/\(namespace)-\(name)/items")
    }

    public func signIn(on auth: any AuthClient, in namespace: ConformanceNamespace) async throws {
        try await auth.signUp(email: "\(namespace)@example.com", password: "correct horse 7 battery").get()
    }
}

public struct SwitchingFeatures: Sendable, Hashable {
    /// The provider of the initial storage.
    public var first: InfrastructureProvider
    /// The provider of the storage to switch to.
    public var second: InfrastructureProvider
    /// The capabilities that both storages share.
    public var storage: StorageCapabilities
    /// Whether the second provider also has an auth client to switch to.
    public var switchesAuth: Bool

    public init(
        first: InfrastructureProvider, second: InfrastructureProvider, storage: StorageCapabilities,
        switchesAuth: Bool = false
    ) {
        self.first = first
        self.second = second
        self.storage = storage
        self.switchesAuth = switchesAuth
    }
}

public typealias SwitchingRequirement = ConformanceRequirement<SwitchingFeatures>

extension ConformanceRequirement where Features == SwitchingFeatures {
    static let live = Self("live streams") { $0.storage.liveStreams }
    static let offline = Self("offline operations") { $0.storage.offline }
    static let transactions = Self("transactions") { $0.storage.transactions }
    static let secondAuth = Self("a second auth client", remedy: "a harness of your own, in a test, that has one") {
        $0.switchesAuth
    }
}

/// The context of a switching check: clients on the first provider, and direct access to each provider.
final class SwitchingContext: ConformanceContext {
    let harness: any SwitchingHarness
    let namespace = ConformanceNamespace()
    let features: SwitchingFeatures
    let factory: InfrastructureFactory
    let infrastructure: Infrastructure
    let items: CollectionPath
    /// Each provider's storage, whatever the selection.
    let first: StorageDevice
    let second: StorageDevice
    private let listeners = Mutex<[@Sendable () -> Void]>([])

    init(_ harness: any SwitchingHarness) async throws {
        self.harness = harness
        features = harness.features
        factory = try await harness.makeFactory()
        infrastructure = try await factory.make(harness.selection)
        items = try harness.collection("main", in: namespace)
        try await harness.signIn(on: infrastructure.auth, in: namespace)
        let features = StorageFeatures(features.storage)
        first = StorageDevice(
            try await factory.createStorageClient(provider: harness.features.first, auth: infrastructure.auth),
            features: features)
        second = StorageDevice(
            try await factory.createStorageClient(provider: harness.features.second, auth: infrastructure.auth),
            features: features)
    }

    /// The app's storage: the same value with either provider.
    var store: StorageDevice { StorageDevice(infrastructure.storage, features: first.features) }

    @discardableResult
    func goOver(to provider: InfrastructureProvider) async throws -> SwitchReport {
        try await infrastructure.use(provider, for: .storage)
    }

    func watch<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> StreamProbe<Stream.Element>
    where Stream.Element: Sendable {
        let probe = StreamProbe<Stream.Element>(stream)
        listeners.withLock { $0.append { probe.cancel() } }
        return probe
    }

    func tearDown() async throws {
        for cancel in listeners.withLock({ $0 }) { cancel() }
        var failure: (any Error)?
        for device in [first, second] {
            do {
                try await device.empty(items)
            } catch {
                // A check that shuts everything down also ends the session needed for clean-up; it writes nothing.
                if (error as? StorageError)?.code != .shutDown { failure = error }
            }
        }
        if infrastructure.auth.capabilities.accountDeletion { try? await infrastructure.auth.deleteAccount() }
        for device in [first, second] { await device.client.shutDown() }
        await infrastructure.shutDown()
        if let failure { throw failure }
    }
}

public typealias SwitchingCheck = ConformanceCheck<any SwitchingHarness, SwitchingFeatures>

extension ConformanceCheck where Harness == any SwitchingHarness, Features == SwitchingFeatures {
    init(
        _ name: String, needs requirements: SwitchingRequirement..., deadline: Duration = .seconds(60),
        _ body: @escaping @Sendable (SwitchingContext) async throws -> Void
    ) {
        self.init(.switching, name, requirements: requirements, deadline: deadline) { harness in
            try await ConformanceLife.run(
                deadline: deadline, begin: { try await SwitchingContext(harness) }, body: body)
        }
    }
}

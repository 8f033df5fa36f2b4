public import Switchyard

/// What is supplied to have mixed providers, and moving from one to the other, checked: two providers of storage, each
/// with documents of its own, and one of auth.
public protocol SwitchingHarness: Sendable {
    var features: SwitchingFeatures { get }

    /// A factory for each call. Storage clients that it and its `create` functions make for one provider see the same
    /// documents; those of different providers do not.
    func makeFactory() async throws -> InfrastructureFactory

    /// Everything chosen for the start: the storage of ``SwitchingFeatures/first``.
    var selection: InfrastructureSelection { get }

    /// A collection in `namespace`, of the same name on both providers.
    func collection(_ name: String, in namespace: ConformanceNamespace) throws -> CollectionPath

    /// Signs somebody in who exists in `namespace` only, where the storage needs it. The default does, by a password.
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
    /// Whose storage is chosen at the start.
    public var first: InfrastructureProvider
    /// Whose storage is gone over to.
    public var second: InfrastructureProvider
    /// What both storages can do.
    public var storage: StorageCapabilities
    /// Whether the second provider has an auth client to go over to as well.
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
    static let secondAuth = Self("a second auth client") { $0.switchesAuth }
}

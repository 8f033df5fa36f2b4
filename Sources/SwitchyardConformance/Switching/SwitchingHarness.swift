public import Switchyard

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
    static let secondAuth = Self("a second auth client") { $0.switchesAuth }
}

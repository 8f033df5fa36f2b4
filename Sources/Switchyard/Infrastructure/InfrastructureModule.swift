/// A provider: it makes the clients that it supports. The one type you have to write for a new provider.
///
/// ```swift
/// public struct AcmeModule: InfrastructureModule {
///     public static let provider: InfrastructureProvider = "acme"
///     public let configuration: AcmeConfiguration
///     public init(_ configuration: AcmeConfiguration) { self.configuration = configuration }
///     public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
///         AcmeStorageAdapter(configuration, auth: context.auth)
///     }
/// }
/// ```
///
/// Every `make` function has a default that throws ``ErrorCode/unsupported``, so implement only what you support. Each is
/// called at most once per ``Infrastructure``; its client is shared.
public protocol InfrastructureModule: Sendable {
    /// The provider's settings, given in code or decoded from a file or the environment.
    associatedtype Configuration: Codable & Sendable

    static var provider: InfrastructureProvider { get }

    init(_ configuration: Configuration)
    var configuration: Configuration { get }

    /// The same module with settings from a file merged into its own. If a module has more than its configuration, such as a
    /// token source, it has to carry that over; the default makes a new module.
    func reconfigured(_ configuration: Configuration) -> Self

    /// Checks the whole configuration before any client is made.
    ///
    /// - Throws: `.invalidConfiguration` with what to change.
    func validate() throws(InfrastructureError)

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient
    func makeFileStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any FileStorageClient
    func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient

    /// For servers: verifies this provider's tokens, and makes clients that act for their users.
    func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError) -> any ServerClientFactory

    /// Deletes a user's documents that this provider keeps on the device. Called while the provider is not chosen and has no
    /// storage client, which would otherwise see the sign-out itself. The queues of other users stay. The default does
    /// nothing, which is right for a provider that keeps nothing.
    ///
    /// - Parameters:
    ///   - userID: The user who signed out; `nil` for the last user of the provider.
    ///   - context: The context with the state folder.
    func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError)

    // Domain clients, for a provider that can do better than documents. Each must work with just `core`, whose auth may be
    // another provider's; a fast path is allowed if `core.storage.unwrapped(as:)` finds the provider's own client.

    func makeUserClient(on core: CoreClients) async throws(InfrastructureError) -> any UserClient
    func makeContactsClient(on core: CoreClients) async throws(InfrastructureError) -> any ContactsClient
    func makeCheckInClient(on core: CoreClients) async throws(InfrastructureError) -> any CheckInClient
    func makeNotificationClient(on core: CoreClients) async throws(InfrastructureError) -> any NotificationClient
}

extension InfrastructureModule {
    /// The provider's name, for error messages.
    public var provider: InfrastructureProvider { Self.provider }

    public func reconfigured(_ configuration: Configuration) -> Self { Self(configuration) }

    public func validate() throws(InfrastructureError) {}

    public func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        throw .unsupported(.auth, by: Self.provider)
    }
    public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        throw .unsupported(.storage, by: Self.provider)
    }
    public func makeFileStorageClient(
        _ context: ModuleContext
    ) async throws(InfrastructureError) -> any FileStorageClient {
        throw .unsupported(.files, by: Self.provider)
    }
    public func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient {
        throw .unsupported(.messaging, by: Self.provider)
    }

    public func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
        -> any ServerClientFactory
    {
        throw InfrastructureError(
            .unsupported, "The provider “\(Self.provider)” cannot check tokens or act for callers.")
    }

    public func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError) {}

    public func makeUserClient(on core: CoreClients) async throws(InfrastructureError) -> any UserClient {
        DocumentUserClient(on: core)
    }
    public func makeContactsClient(on core: CoreClients) async throws(InfrastructureError) -> any ContactsClient {
        DocumentContactsClient(on: core)
    }
    public func makeCheckInClient(on core: CoreClients) async throws(InfrastructureError) -> any CheckInClient {
        DocumentCheckInClient(on: core)
    }
    public func makeNotificationClient(
        on core: CoreClients
    ) async throws(InfrastructureError) -> any NotificationClient { DocumentNotificationClient(on: core) }
}

/// A module that stands for others, which the factory knows.
package protocol ModuleOfModules: InfrastructureModule {
    /// Those that it stands for; none before it is ``resolved(_:)``. When the settings of one change, its clients are made again.
    var parts: [any InfrastructureModule] { get }
    /// The same module with the others.
    func resolved(
        _ module: (InfrastructureProvider) throws(InfrastructureError) -> any InfrastructureModule
    ) throws(InfrastructureError) -> any InfrastructureModule
}

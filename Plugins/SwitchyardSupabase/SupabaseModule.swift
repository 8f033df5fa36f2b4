import Foundation
public import Switchyard
package import SwitchyardWire

extension InfrastructureProvider {
    /// A Supabase project, hosted or one's own, by ``SupabaseModule``.
    public static let supabase: InfrastructureProvider = "supabase"
}

/// Supabase as a provider: accounts, documents in the project's database with a cache, live queries and an offline queue,
/// and files, over plain HTTP.
///
/// ```swift
/// let supabase = SupabaseConfiguration(url: "https://demo.supabase.co", key: Secret(key), bucket: "avatars")
/// let factory = InfrastructureFactory(SupabaseModule(supabase))
/// ```
/// Documents need functions in the database that this module brings along: see <doc:Database>. Requests carry the token of
/// the chosen auth client, whoever stands behind it; a project takes those of other issuers that it was told of, see
/// <doc:OtherSessions>.
public struct SupabaseModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = .supabase
    public let configuration: SupabaseConfiguration
    private let deletion: SupabaseAuthAdapter.AccountDeletion?
    private let makeTransport: @Sendable () -> any Transport

    public init(_ configuration: SupabaseConfiguration) { self.init(configuration, accountDeletion: nil) }

    /// With a function of the project's own by which people delete their accounts; the service has no such call.
    public init(_ configuration: SupabaseConfiguration, accountDeletion: SupabaseAuthAdapter.AccountDeletion?) {
        self.init(configuration, accountDeletion: accountDeletion) { SupabaseTransport.make() }
    }

    package init(
        _ configuration: SupabaseConfiguration, accountDeletion: SupabaseAuthAdapter.AccountDeletion? = nil,
        transport: @escaping @Sendable () -> any Transport
    ) {
        self.configuration = configuration
        deletion = accountDeletion
        makeTransport = transport
    }

    public func reconfigured(_ configuration: SupabaseConfiguration) -> SupabaseModule {
        SupabaseModule(configuration, accountDeletion: deletion, transport: makeTransport)
    }

    public func validate() throws(InfrastructureError) {
        _ = try SupabaseProject(configuration.url)
        try check("key", configuration.key.reveal())
        if let key = configuration.serviceKey { try check("serviceKey", key.reveal()) }
        if let bucket = configuration.bucket {
            guard (1...100).contains(bucket.utf8.count), !bucket.contains("/"),
                bucket.utf8.allSatisfy(FilePath.allowedBySupabase)
            else { throw problem("bucket must be the name of one, not “\(bucket)”") }
        }
        guard configuration.checkInterval >= .milliseconds(10) else {
            throw problem("checkInterval must be at least ten milliseconds")
        }
        _ = try SupabaseTables(configuration.tables, usesDocuments: configuration.usesDocumentTable)
        guard configuration.cacheBytes > 0 else { throw problem("cacheBytes must be above zero") }
    }

    private func check(_ name: String, _ text: String) throws(InfrastructureError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw problem("\(name) is empty, or has characters that no \(name) has")
        }
    }

    private func problem(_ what: String) -> InfrastructureError {
        InfrastructureError(.invalidConfiguration, "Supabase's \(what).")
    }

    public func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try SupabaseAuthAdapter(surroundings(context), deletion: deletion)
    }

    public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        try await SupabaseStorageAdapter(surroundings(context))
    }

    public func makeFileStorageClient(
        _ context: ModuleContext
    ) async throws(InfrastructureError) -> any FileStorageClient {
        try SupabaseFileStorageAdapter(surroundings(context))
    }

    /// What a client is made with; each gets a transport of its own, to be shut down with it.
    func surroundings(_ context: ModuleContext) throws(InfrastructureError) -> SupabaseSurroundings {
        try validate()
        return SupabaseSurroundings(
            configuration: configuration, project: try SupabaseProject(configuration.url),
            transport: makeTransport(),
            tokens: SupabaseTokens(
                key: configuration.key, serviceKey: configuration.serviceKey, auth: context.auth),
            context: context)
    }
}

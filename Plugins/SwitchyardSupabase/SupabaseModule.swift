import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync
package import SwitchyardWire

extension InfrastructureProvider {
    /// A Supabase project, hosted or your own; see ``SupabaseModule``.
    public static let supabase: InfrastructureProvider = "supabase"
}

extension InfrastructureModule where Self == SupabaseModule {
    /// A Supabase project, set up in one line; `setUp` changes further settings.
    ///
    /// ```swift
    /// let supabase: SupabaseModule = .supabase(url: "https://demo.supabase.co", key: key) { $0.bucket = "avatars" }
    /// let backend = try await Infrastructure(supabase)
    /// ```
    public static func supabase(
        url: String, key: Secret, _ setUp: (inout SupabaseConfiguration) -> Void = { _ in }
    ) -> SupabaseModule {
        var configuration = SupabaseConfiguration(url: url, key: key)
        setUp(&configuration)
        return SupabaseModule(configuration)
    }

    public static func supabase(_ configuration: SupabaseConfiguration) -> SupabaseModule {
        SupabaseModule(configuration)
    }
}

extension ConfigurableModule {
    /// A Supabase project, set up by a configuration.
    public static let supabase = ConfigurableModule(SupabaseModule.self)
}

/// Supabase as a provider: accounts, documents in the project's database with a cache, live queries and an offline queue,
/// files, and messages to running apps, over plain HTTP and a web socket.
///
/// ```swift
/// let backend = try await Infrastructure(.supabase(url: "https://demo.supabase.co", key: key))
/// ```
/// Documents need functions in the database, which this module contains: see <doc:Database>. Requests carry the token of the
/// selected auth client, on any provider; a project can accept tokens of other issuers, see <doc:MixingProviders>.
public struct SupabaseModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = .supabase
    public let configuration: SupabaseConfiguration
    let deletion: SupabaseAuthAdapter.AccountDeletion?
    private let tokenExchange: TokenExchange?
    private let makeTransport: @Sendable (CallLimits) -> any Transport
    private let sessions = SupabaseSessions()

    public init(_ configuration: SupabaseConfiguration) { self.init(configuration, accountDeletion: nil) }

    /// Creates a module with a function of your own that deletes the user's account, since the service has no such call; or
    /// with an exchange of other providers' sessions for tokens of the project, if the project does not accept theirs.
    public init(
        _ configuration: SupabaseConfiguration, accountDeletion: SupabaseAuthAdapter.AccountDeletion?,
        tokenExchange: TokenExchange? = nil
    ) {
        self.init(
            configuration, deletion: accountDeletion, tokenExchange: tokenExchange, transport: PlatformTransport.make)
    }

    package init(
        _ configuration: SupabaseConfiguration, accountDeletion: SupabaseAuthAdapter.AccountDeletion? = nil,
        tokenExchange: TokenExchange? = nil,
        transport: @escaping @Sendable () -> any Transport
    ) {
        self.init(configuration, deletion: accountDeletion, tokenExchange: tokenExchange) { _ in transport() }
    }

    private init(
        _ configuration: SupabaseConfiguration, deletion: SupabaseAuthAdapter.AccountDeletion?,
        tokenExchange: TokenExchange?, transport: @escaping @Sendable (CallLimits) -> any Transport
    ) {
        self.configuration = configuration
        self.deletion = deletion
        self.tokenExchange = tokenExchange
        makeTransport = transport
    }

    public func reconfigured(_ configuration: SupabaseConfiguration) -> SupabaseModule {
        SupabaseModule(
            configuration, deletion: deletion, tokenExchange: tokenExchange, transport: makeTransport)
    }

    public func validate() throws(InfrastructureError) {
        let project = try SupabaseProject(configuration)
        try check("key", configuration.key.reveal(), of: project)
        guard !Self.isSecret(configuration.key.reveal()) else {
            throw problem(
                "key is the project's secret key, which bypasses all policies. Put the publishable key there; the secret key "
                    + "belongs in serviceKey, on servers only")
        }
        if let key = configuration.serviceKey {
            try check("serviceKey", key.reveal(), of: project)
            guard !Self.isPublic(key.reveal()) else {
                throw problem(
                    "serviceKey is the project's publishable key, which has no rights of its own. Put the secret key there, on "
                        + "servers only; the publishable key belongs in key")
            }
        }
        if let what = configuration.jwtSecret.flatMap({ LegacySecret.problem(of: $0) }) {
            throw problem(
                "jwtSecret \(what). Anyone could forge tokens with it. Copy the legacy JWT secret from the dashboard: "
                    + "Project Settings, JWT Keys. A project with signing keys needs none")
        }
        _ = try SupabaseBuckets(configuration)
        try configuration.realtime.validate()
        guard configuration.checkInterval >= .milliseconds(10) else {
            throw problem("checkInterval must be at least ten milliseconds")
        }
        _ = try TableMappings(configuration.tables, usesDocuments: configuration.usesDocumentTable)
        guard configuration.cacheBytes > 0 else { throw problem("cacheBytes must be above zero") }
    }

    private func check(_ name: String, _ text: String, of project: SupabaseProject) throws(InfrastructureError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw problem(
                "\(name) is empty, or contains characters that a key never has. Copy it from the dashboard: Project Settings, "
                    + "API Keys")
        }
        // Older keys contain the project's name.
        if let expected = project.reference, let found = SupabaseGrant.claims(of: text)?["ref"]?.string,
            found != expected
        {
            throw problem("\(name) belongs to the project “\(found)”, but the url is that of “\(expected)”")
        }
    }

    static func isSecret(_ key: String) -> Bool {
        key.hasPrefix("sb_secret_") || SupabaseGrant.claims(of: key)?["role"]?.string == "service_role"
    }

    static func isPublic(_ key: String) -> Bool {
        key.hasPrefix("sb_publishable_") || SupabaseGrant.claims(of: key)?["role"]?.string == "anon"
    }

    private func problem(_ what: String) -> InfrastructureError {
        InfrastructureError(.invalidConfiguration, "Supabase's \(what).")
    }

    public func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try SupabaseAuthAdapter(clientContext(context), deletion: deletion)
    }

    public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        try await SupabaseStorageAdapter(clientContext(context))
    }

    public func makeFileStorageClient(
        _ context: ModuleContext
    ) async throws(InfrastructureError) -> any FileStorageClient {
        try SupabaseFileStorageAdapter(clientContext(context))
    }

    public func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient {
        try SupabaseMessagingAdapter(clientContext(context))
    }

    public func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
        -> any ServerClientFactory
    {
        try SupabaseServerClientFactory(clientContext(context))
    }

    public func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError) {
        let project = try SupabaseProject(configuration)
        guard let folder = context.place(of: "documents-\(project.id)") else { return }
        try SyncStorage.wipe(folder, of: userID)
    }

    /// The context of a new client. Each client has its own transport, which is shut down with it, and shares tokens and the
    /// realtime socket with the others.
    func clientContext(_ context: ModuleContext) throws(InfrastructureError) -> SupabaseContext {
        try validate()
        let project = try SupabaseProject(configuration)
        let session = sessions.session(of: context.auth) {
            let auth = TokenExchange.source(context.auth, for: .supabase, tokenExchange, now: context.now)
            let tokens = SupabaseTokens(key: configuration.key, serviceKey: configuration.serviceKey, auth: auth)
            return SupabaseSession(tokens: tokens) { [configuration, makeTransport] in
                let transport = NamedTransport(makeTransport(context.callLimits), program: context.program)
                let socket = RealtimeSocket(
                    project.realtime, tokens: tokens, transport: transport, clock: context.clock,
                    now: context.now, configuration.realtime)
                return (socket, transport)
            }
        }
        return SupabaseContext(
            configuration: configuration, project: project,
            transport: NamedTransport(makeTransport(context.callLimits), program: context.program), session: session,
            module: context)
    }
}

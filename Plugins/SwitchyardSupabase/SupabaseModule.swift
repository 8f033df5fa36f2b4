import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync
package import SwitchyardWire

extension InfrastructureProvider {
    /// A Supabase project, hosted or one's own, by ``SupabaseModule``.
    public static let supabase: InfrastructureProvider = "supabase"
}

extension InfrastructureModule where Self == SupabaseModule {
    /// A Supabase project, set up in a line; `setUp` changes the rest.
    ///
    /// ```swift
    /// let backend = try await Infrastructure(.supabase(url: url, key: key) { $0.bucket = "avatars" })
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
/// let backend = try await Infrastructure(.supabase(url: "https://demo.supabase.co", key: Secret(key)))
/// ```
/// Documents need functions in the database that this module brings along: see <doc:Database>. Requests carry the token of
/// the selected auth client, on any provider; a project accepts tokens of other issuers that it was told of, see
/// <doc:OtherSessions>.
public struct SupabaseModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = .supabase
    public let configuration: SupabaseConfiguration
    let deletion: SupabaseAuthAdapter.AccountDeletion?
    private let tokenExchange: TokenExchange?
    private let makeTransport: @Sendable () -> any Transport
    private let sessions = SupabaseSessions()

    public init(_ configuration: SupabaseConfiguration) { self.init(configuration, accountDeletion: nil) }

    /// With a function of the project's own by which people delete their accounts, for the service has no such call; or with an
    /// exchange that gives people who are signed in elsewhere a token of the project's, where it does not take the other's.
    public init(
        _ configuration: SupabaseConfiguration, accountDeletion: SupabaseAuthAdapter.AccountDeletion?,
        tokenExchange: TokenExchange? = nil
    ) {
        self.init(configuration, accountDeletion: accountDeletion, tokenExchange: tokenExchange) {
            PlatformTransport.make()
        }
    }

    package init(
        _ configuration: SupabaseConfiguration, accountDeletion: SupabaseAuthAdapter.AccountDeletion? = nil,
        tokenExchange: TokenExchange? = nil,
        transport: @escaping @Sendable () -> any Transport
    ) {
        self.configuration = configuration
        deletion = accountDeletion
        self.tokenExchange = tokenExchange
        makeTransport = transport
    }

    public func reconfigured(_ configuration: SupabaseConfiguration) -> SupabaseModule {
        SupabaseModule(
            configuration, accountDeletion: deletion, tokenExchange: tokenExchange, transport: makeTransport)
    }

    public func validate() throws(InfrastructureError) {
        let project = try SupabaseProject(configuration)
        try check("key", configuration.key.reveal(), of: project)
        if let key = configuration.serviceKey { try check("serviceKey", key.reveal(), of: project) }
        _ = try SupabaseBuckets(configuration)
        try configuration.realtime.validate()
        guard configuration.checkInterval >= .milliseconds(10) else {
            throw problem("checkInterval must be at least ten milliseconds")
        }
        _ = try SupabaseTables(configuration.tables, usesDocuments: configuration.usesDocumentTable)
        guard configuration.cacheBytes > 0 else { throw problem("cacheBytes must be above zero") }
    }

    private func check(_ name: String, _ text: String, of project: SupabaseProject) throws(InfrastructureError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw problem("\(name) is empty, or has characters that no \(name) has")
        }
        // Keys of the older form say which project they are of.
        if let expected = project.reference, let found = SupabaseGrant.claims(of: text)?["ref"]?.string,
            found != expected
        {
            throw problem("\(name) is of the project “\(found)”, and the url is that of “\(expected)”")
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

    public func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient {
        try SupabaseMessagingAdapter(surroundings(context))
    }

    public func makeCallerDesk(_ context: ModuleContext) async throws(InfrastructureError) -> any CallerDesk {
        try SupabaseCallerDesk(surroundings(context))
    }

    public func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError) {
        let project = try SupabaseProject(configuration)
        guard let folder = context.place(of: "documents-\(project.id)") else { return }
        try SyncStorage.wipe(folder, of: userID)
    }

    /// What a client is made with. Each gets a transport of its own, to be shut down with it; tokens and the realtime socket
    /// it shares with the others.
    func surroundings(_ context: ModuleContext) throws(InfrastructureError) -> SupabaseSurroundings {
        try validate()
        let project = try SupabaseProject(configuration)
        let session = sessions.session(of: context.auth) {
            let auth = TokenExchange.source(context.auth, for: .supabase, tokenExchange, now: context.now)
            let tokens = SupabaseTokens(key: configuration.key, serviceKey: configuration.serviceKey, auth: auth)
            return SupabaseSession(tokens: tokens) { [configuration, makeTransport] in
                let transport = NamedTransport(makeTransport(), program: context.program)
                let socket = RealtimeSocket(
                    project.realtime, tokens: tokens, transport: transport, clock: context.clock,
                    now: context.now, configuration.realtime)
                return (socket, transport)
            }
        }
        return SupabaseSurroundings(
            configuration: configuration, project: project,
            transport: NamedTransport(makeTransport(), program: context.program), session: session, context: context)
    }
}

import Switchyard
import SwitchyardSync
import SwitchyardWire

/// Supabase for servers that act for callers with a token that the project accepts.
struct SupabaseServerClientFactory: ServerClientFactory {
    let verifier: any TokenVerifier
    private let context: SupabaseContext
    private let tables: TableMappings
    private let gate: SchemaCheck
    private let engines = SharedEngines()
    private let lines: SupabaseCallerSockets?

    /// - Parameter context: A context without a user. All callers share its transport.
    init(_ context: SupabaseContext) throws(InfrastructureError) {
        let configuration = context.configuration
        self.context = context
        lines = SupabaseCallerSockets(context)
        verifier = SupabaseTokenVerifier(context)
        tables = try TableMappings(configuration.tables, usesDocuments: configuration.usesDocumentTable)
        gate = SchemaCheck(needed: tables.isEmpty ? 1 : 3)
    }

    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient {
        makeStorageClient(tokens(of: auth), caller)
    }

    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
        makeStorageClient(try projectTokens, nil)
    }

    /// Without the service key, so that no caller gets more rights than their own.
    private func tokens(of caller: any AuthClient) -> SupabaseTokens {
        SupabaseTokens(key: context.configuration.key, auth: caller)
    }

    private var projectTokens: SupabaseTokens {
        get throws(InfrastructureError) {
            SupabaseTokens(key: context.configuration.key, serviceKey: try serviceKey, auth: nil)
        }
    }

    /// - Parameter caller: `nil` for the project itself.
    private func makeStorageClient(_ tokens: SupabaseTokens, _ caller: VerifiedToken?) -> any StorageClient {
        let (configuration, clock) = (context.configuration, context.module.clock)
        let service = PostgRESTService(
            project: context.project, tokens: tokens, transport: context.transport, clock: clock, gate: gate)
        let documents = DirectStorageClient(
            SupabaseDriver(
                service: service, tables: tables, lines: lines,
                pace: SupabaseWatch.Pace(alone: configuration.checkInterval), clock: clock,
                observer: context.module.observer),
            token: caller?.token, userID: caller?.userID, engines: engines, clock: clock,
            observer: context.module.observer)
        return UUIDTablesClient.around(documents, tables)
    }

    func makeFileStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any FileStorageClient {
        try makeFileStorageClient(tokens(of: auth))
    }

    func makeProjectFileStorageClient() throws(InfrastructureError) -> any FileStorageClient {
        try makeFileStorageClient(try projectTokens)
    }

    private func makeFileStorageClient(
        _ tokens: SupabaseTokens
    ) throws(InfrastructureError) -> any FileStorageClient {
        SupabaseFileStorageAdapter(
            try SupabaseFileService(context, tokens: tokens), folder: nil, sharesTransport: true)
    }

    func makeAdminClient() throws(InfrastructureError) -> any AdminClient {
        SupabaseAdminClient(
            SupabaseAuthService(
                address: context.project.auth, apiKey: try serviceKey, transport: context.transport,
                clock: context.module.clock, now: context.module.now,
                plainHost: context.project.plainHost))
    }

    func makeMessageSender() throws(InfrastructureError) -> any MessageSender {
        // Observed from outside, like a client's calls.
        PortableSupabaseSender(
            base: SupabaseMessageSender(
                context.project, try serviceKey, transport: context.transport,
                now: context.module.now, observer: SilentObserver()))
    }

    /// The project's credential.
    private var serviceKey: Secret {
        get throws(InfrastructureError) {
            if let key = context.configuration.serviceKey { return key }
            throw InfrastructureError(
                .invalidConfiguration,
                "Acting for the project requires Supabase's serviceKey, which is not set. Set it to the secret key (sb_secret_…) or "
                    + "the service_role key of the project: Project Settings, API Keys. It bypasses all policies: never in an app."
            )
        }
    }

    func shutDown() async {
        await engines.shutDown()
        await context.transport.shutDown()
    }
}

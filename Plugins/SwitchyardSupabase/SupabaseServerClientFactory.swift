import Switchyard
import SwitchyardSync
import SwitchyardWire

/// Supabase for servers that act for callers with a token that the project accepts.
struct SupabaseServerClientFactory: ServerClientFactory {
    let verifier: any TokenVerifier
    private let surroundings: SupabaseContext
    private let tables: TableMappings
    private let gate: SchemaCheck
    private let engines = SharedEngines()
    private let lines: SupabaseCallerSockets?

    /// - Parameter surroundings: Surroundings without a user, whose transport all callers share.
    init(_ surroundings: SupabaseContext) throws(InfrastructureError) {
        let configuration = surroundings.configuration
        self.surroundings = surroundings
        lines = SupabaseCallerSockets(surroundings)
        verifier = SupabaseTokenVerifier(surroundings)
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
        SupabaseTokens(key: surroundings.configuration.key, auth: caller)
    }

    private var projectTokens: SupabaseTokens {
        get throws(InfrastructureError) {
            SupabaseTokens(key: surroundings.configuration.key, serviceKey: try serviceKey, auth: nil)
        }
    }

    /// - Parameter caller: `nil` for the project itself.
    private func makeStorageClient(_ tokens: SupabaseTokens, _ caller: VerifiedToken?) -> any StorageClient {
        let (configuration, clock) = (surroundings.configuration, surroundings.context.clock)
        let service = PostgRESTService(
            project: surroundings.project, tokens: tokens, transport: surroundings.transport, clock: clock, gate: gate)
        let documents = DirectStorageClient(
            SupabaseDriver(
                service: service, tables: tables, lines: lines,
                pace: SupabaseWatch.Pace(alone: configuration.checkInterval), clock: clock,
                observer: surroundings.context.observer),
            token: caller?.token, userID: caller?.userID, engines: engines, clock: clock,
            observer: surroundings.context.observer)
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
            try SupabaseFileService(surroundings, tokens: tokens), folder: nil, sharesTransport: true)
    }

    func makeAdminClient() throws(InfrastructureError) -> any AdminClient {
        SupabaseAdminClient(
            SupabaseAuthService(
                address: surroundings.project.auth, apiKey: try serviceKey, transport: surroundings.transport,
                clock: surroundings.context.clock, now: surroundings.context.now,
                plainHost: surroundings.project.plainHost))
    }

    func makeMessageSender() throws(InfrastructureError) -> any MessageSender {
        // Observed from outside, like a client's calls.
        PortableSupabaseSender(
            base: SupabaseMessageSender(
                surroundings.project, try serviceKey, transport: surroundings.transport,
                now: surroundings.context.now, observer: SilentObserver()))
    }

    /// The project's credential.
    private var serviceKey: Secret {
        get throws(InfrastructureError) {
            if let key = surroundings.configuration.serviceKey { return key }
            throw InfrastructureError(
                .invalidConfiguration,
                "Acting for the project takes Supabase's serviceKey, which is not set. Set it to the secret key (sb_secret_…) or "
                    + "the service_role key of the project: Project Settings, API Keys. It bypasses all policies: never in an app."
            )
        }
    }

    func shutDown() async {
        await engines.shutDown()
        await surroundings.transport.shutDown()
    }
}

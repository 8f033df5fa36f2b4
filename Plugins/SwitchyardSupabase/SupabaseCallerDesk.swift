import Switchyard
import SwitchyardSync
import SwitchyardWire

/// Supabase for servers that act for those who bring a token that the project takes.
struct SupabaseCallerDesk: CallerDesk {
    let verifier: any TokenVerifier
    private let surroundings: SupabaseSurroundings
    private let tables: SupabaseTables
    private let gate: SchemaGate

    /// - Parameter surroundings: Of nobody; its transport is for all.
    init(_ surroundings: SupabaseSurroundings) throws(InfrastructureError) {
        let configuration = surroundings.configuration
        self.surroundings = surroundings
        verifier = SupabaseTokenVerifier(surroundings)
        tables = try SupabaseTables(configuration.tables, usesDocuments: configuration.usesDocumentTable)
        gate = SchemaGate(needed: tables.isEmpty ? 1 : 3)
    }

    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient {
        let (configuration, clock) = (surroundings.configuration, surroundings.context.clock)
        let service = PostgRESTService(
            project: surroundings.project,
            // Without the service key: nobody is to get more than is theirs.
            tokens: SupabaseTokens(key: configuration.key, auth: auth), transport: surroundings.transport,
            clock: clock, gate: gate)
        // A live query asks now and then: a channel of the realtime service would have to be joined for each caller.
        return DirectStorageClient(
            SupabaseDriver(
                service: service, tables: tables, pace: SupabaseWatch.Pace(alone: configuration.checkInterval),
                clock: clock), userID: caller.userID, clock: clock)
    }

    func shutDown() async { await surroundings.transport.shutDown() }
}

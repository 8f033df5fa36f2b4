public import Switchyard
import SwitchyardSync

/// Documents in a project's database: each operation calls one function there.
///
/// It has a cache and a queue of writes on this device.
///
/// Each signed-in user has a separate queue of writes. Data of one user is never sent with the token of another.
public final class SupabaseStorageAdapter: StorageClientWrapper {
    /// The project's own functions, called for the signed-in user.
    public let functions: SupabaseFunctions
    /// The project's tables as they are.
    public let tables: SupabaseTables
    public let base: any StorageClient
    private let mappings: TableMappings
    private let hints: ChangeHints
    private let checkInterval: Duration

    init(_ context: SupabaseContext) async throws(InfrastructureError) {
        let configuration = context.configuration
        let module = context.module
        functions = SupabaseFunctions(context)
        tables = SupabaseTables(
            PostgRESTService(
                project: context.project, tokens: context.tokens, transport: context.transport,
                clock: module.clock, now: module.now))
        mappings = try TableMappings(configuration.tables, usesDocuments: configuration.usesDocumentTable)
        let service = PostgRESTService(
            project: context.project, tokens: context.tokens, transport: context.transport,
            clock: module.clock, gate: SchemaCheck(needed: 1), now: module.now)
        let share = configuration.realtime.mode == .off ? nil : context.session.realtime(for: .documents)
        let driver = SupabaseDriver(
            service: service, tables: mappings, realtime: share?.socket, share: share,
            pace: SupabaseWatch.Pace(alone: configuration.checkInterval), clock: module.clock,
            observer: module.observer)
        (hints, checkInterval) = (driver.hints, configuration.checkInterval)
        let documents = try await SyncedStorageClient(
            driver: driver,
            folder: configuration.keepsDocuments ? try context.folder("documents") : nil,
            cacheBytes: configuration.cacheBytes, context: module)
        base = UUIDTablesClient.around(documents, mappings)
    }

    /// How the open live queries of a collection learn of changes by others.
    ///
    /// Without an open one, the answer is ``SupabaseUpdates/polled(every:)``.
    public func updates(of collection: CollectionPath) -> SupabaseUpdates {
        let table = (try? mappings.place(of: collection)) ?? nil
        let topic = table?.table.topic ?? .documents(in: collection)
        return hints.announces(topic) ? .live : .polled(every: checkInterval)
    }

    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? tables as? Client ?? base.unwrapped(as: type)
    }
}

/// How live queries learn of changes by others.
public enum SupabaseUpdates: Sendable, Hashable {
    /// The project announces each change. Checks at growing intervals, of at most half a minute, find what was not announced.
    case live
    /// The project announces nothing, because it has no realtime service, a table is not in its publication, or the connection
    /// is down; the database is checked at this interval.
    case polled(every: Duration)
}

import Switchyard

/// Where a backend's clients come from. Those of a local Supabase are made again when its tables or buckets change.
protocol ClientsSource: Sendable {
    func clients() async throws -> PageClients
    /// Looks whether other clients are needed now.
    func refresh() async throws
    /// Whether there is a place for files.
    var hasFiles: Bool { get async }
    /// The collections below a document, or at the top, as a persona sees them.
    func collections(
        under parent: StoragePath?, as persona: Persona
    ) async throws -> [(path: CollectionPath, isTable: Bool)]
    func shutDown() async
}

struct FixedClients: ClientsSource {
    let fixed: PageClients
    /// The collections that a configuration maps to tables.
    var tables: [CollectionPath] = []

    func clients() async throws -> PageClients { fixed }
    func refresh() async throws {}
    var hasFiles: Bool { get async { true } }

    func collections(
        under parent: StoragePath?, as persona: Persona
    ) async throws -> [(path: CollectionPath, isTable: Bool)] {
        do {
            return try await fixed.storage(persona).collections(under: parent).map { ($0, tables.contains($0)) }
        } catch let error as StorageError {
            // Where tables are mapped, only their names are known.
            guard error.code == .unsupported, !tables.isEmpty else { throw error }
            return parent == nil ? tables.map { ($0, true) } : []
        }
    }

    func shutDown() async { await fixed.shutDown() }
}

import Switchyard

/// Where a backend's clients come from. Those of a local Supabase are made anew when its tables or buckets change.
protocol ClientsSource: Sendable {
    func clients() async throws -> PageClients
    /// Looks whether other clients are needed now.
    func refresh() async throws
    /// Whether a collection is a table of the project's own.
    func isTable(_ path: CollectionPath) async -> Bool
    func shutDown() async
}

struct FixedClients: ClientsSource {
    let fixed: PageClients

    func clients() async throws -> PageClients { fixed }
    func refresh() async throws {}
    func isTable(_ path: CollectionPath) async -> Bool { false }
    func shutDown() async { await fixed.shutDown() }
}

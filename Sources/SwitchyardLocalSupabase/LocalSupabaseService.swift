package import SwitchyardServerKit

/// One of the services of a ``LocalSupabase``.
package protocol LocalSupabaseService: Sendable {
    /// SQL that creates or updates its tables and functions. It runs at every start with all rights, after the roles and
    /// schemas exist and before requests are accepted.
    var schema: String { get }

    /// Adds its routes. If two routes match a request, the one added first wins.
    func addRoutes(to router: inout Router)

    /// Starts its tasks. When this is called, the database is ready, and requests come only afterwards.
    func start() async throws(PostgresFailure)

    /// Stops its tasks. When this is called, the server no longer accepts requests, but the database is still running.
    func stop() async
}

extension LocalSupabaseService {
    package var schema: String { "" }
    package func start() async throws(PostgresFailure) {}
    package func stop() async {}
}

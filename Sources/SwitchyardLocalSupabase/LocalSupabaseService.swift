package import SwitchyardServerKit

/// One of the services that a ``LocalSupabase`` consists of.
package protocol LocalSupabaseService: Sendable {
    /// SQL that brings its tables and functions into a database, or up to date there. It runs at every start with all
    /// rights, after the roles and schemas are there and before anybody can ask.
    var schema: String { get }

    /// Adds what it answers. Of two routes that match a request the one added first counts.
    func addRoutes(to router: inout Router)

    /// Begins what it keeps running. The database is ready when this is called, and requests come only afterwards.
    func start() async throws(PostgresFailure)

    /// Ends what it keeps running. The server takes no more requests when this is called; the database is still there.
    func stop() async
}

extension LocalSupabaseService {
    package var schema: String { "" }
    package func start() async throws(PostgresFailure) {}
    package func stop() async {}
}

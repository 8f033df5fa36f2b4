import SwitchyardBytes
package import SwitchyardServerKit

/// The database that all services share, used on behalf of a request's sender or by the server itself.
package struct SupabaseDatabase: Sendable {
    /// Connections with a role that may only switch to the roles that tokens name.
    private let requests: PostgresPool
    /// Connections of the database's owner.
    let own: PostgresPool
    private let place: Place

    /// The address of the database, and the user of the server's own connections.
    package struct Place: Sendable {
        package let port: UInt16
        package let user: String
        package let name: String
    }

    /// The role of requests before they switch to the role of a token.
    static let authenticator = "authenticator"

    package init(_ place: Place) {
        self.place = place
        requests = PostgresPool(port: place.port, user: Self.authenticator, database: place.name, limit: 16)
        own = PostgresPool(port: place.port, user: place.user, database: place.name)
    }

    /// Runs statements with the role and the claims of a token, as one transaction; policies apply.
    ///
    /// - Parameters:
    ///   - schemas: The search path for names without a schema, in this order; already quoted if necessary.
    ///   - settings: Further settings of the transaction, such as `realtime.topic`.
    package func run(
        _ statements: [PostgresStatement], as token: SupabaseToken, readOnly: Bool = false,
        schemas: String = "public, extensions", settings: [(name: String, value: String)] = []
    ) async throws(PostgresFailure) -> [PostgresResult] {
        // The role comes last, because it may not be allowed to change the other settings.
        let all =
            [
                ("search_path", schemas), ("request.jwt.claims", JSON.object(token.claims).text()),
                ("transaction_read_only", readOnly ? "on" : "off"),
            ] + settings + [("role", token.role)]
        let calls = all.indices.map { "set_config($\(2 * $0 + 1), $\(2 * $0 + 2), true)" }
        let setUp = PostgresStatement(
            "select \(Self.limits(of: "$\(2 * all.count)")), " + calls.joined(separator: ", "),
            all.flatMap { [Optional($0.0), Optional($0.1)] }, isPrepared: true)
        return Array(try await requests.run([setUp] + statements).dropFirst())
    }

    /// Applies the role's time limits, which the database itself applies only when signing in as that role.
    private static func limits(of role: String) -> String {
        """
        (select count(set_config(split_part(s, '=', 1), substr(s, strpos(s, '=') + 1), true))
         from pg_catalog.pg_db_role_setting r join pg_catalog.pg_roles o on o.oid = r.setrole, unnest(r.setconfig) s
         where o.rolname = \(role) and r.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
           and split_part(s, '=', 1) in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'))
        """
    }

    /// Runs statements with all rights, as one transaction.
    package func run(_ statements: [PostgresStatement]) async throws(PostgresFailure) -> [PostgresResult] {
        try await own.run(statements)
    }

    /// A connection of the server itself, for scripts and for listening.
    ///
    /// - Parameters:
    ///   - notified: Called on the connection's thread for notifications; must not block.
    ///   - ended: Called there once the connection has ended; must not block either.
    package func connect(
        notified: @escaping @Sendable (_ channel: String, _ payload: String) -> Void = { _, _ in },
        ended: @escaping @Sendable () -> Void = {}
    ) async throws(PostgresFailure) -> PostgresConnection {
        try await PostgresConnection(
            port: place.port, user: place.user, database: place.name, notified: notified, ended: ended)
    }

    package func close() async {
        await requests.close()
        await own.close()
    }
}

import SwitchyardBytes
package import SwitchyardServerKit

/// The database that all services share: asked in the name of whoever sent a request, or by the server itself.
package struct SupabaseDatabase: Sendable {
    /// Connections of a role that may do nothing but take the roles that tokens name.
    private let requests: PostgresPool
    /// Connections of the database's owner.
    let own: PostgresPool
    private let place: Place

    /// Where the database is, and whose connections the server's own are.
    package struct Place: Sendable {
        package let port: UInt16
        package let user: String
        package let name: String
    }

    /// As whom requests arrive, before they take the role of a token.
    static let authenticator = "authenticator"

    package init(_ place: Place) {
        self.place = place
        requests = PostgresPool(port: place.port, user: Self.authenticator, database: place.name, limit: 16)
        own = PostgresPool(port: place.port, user: place.user, database: place.name)
    }

    /// Runs statements with the role and the claims of a token, as one transaction; policies hold.
    ///
    /// - Parameters:
    ///   - schemas: Where names without a schema are looked for, in this order; quoted already where need be.
    ///   - settings: Further settings of the transaction, such as `realtime.topic`.
    package func run(
        _ statements: [PostgresStatement], as token: SupabaseToken, readOnly: Bool = false,
        schemas: String = "public, extensions", settings: [(name: String, value: String)] = []
    ) async throws(PostgresFailure) -> [PostgresResult] {
        // The role comes last: what it may not set is set before.
        let all =
            [
                ("search_path", schemas), ("request.jwt.claims", JSON.object(token.claims).text()),
                ("transaction_read_only", readOnly ? "on" : "off"),
            ] + settings + [("role", token.role)]
        let calls = all.indices.map { "set_config($\(2 * $0 + 1), $\(2 * $0 + 2), true)" }
        let setUp = PostgresStatement(
            "select \(Self.limits(of: "$\(2 * all.count)")), " + calls.joined(separator: ", "),
            all.flatMap { [Optional($0.0), Optional($0.1)] }, isKept: true)
        return Array(try await requests.run([setUp] + statements).dropFirst())
    }

    /// Takes on how long the role may take, which the database by itself sees to for those who sign in as the role only.
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

    /// A connection of the server's own, for scripts and for listening.
    ///
    /// - Parameters:
    ///   - notified: Called on the connection's thread for what is notified; it must not wait.
    ///   - ended: Called there once it is of no more use; it must not wait either.
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

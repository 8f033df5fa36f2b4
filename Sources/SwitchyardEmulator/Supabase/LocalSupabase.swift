public import Foundation
import SwitchyardBytes
import SwitchyardWire

/// A Supabase on this machine, for development and tests, on a PostgreSQL that is given: so far its data service's
/// functions, with the roles, claims and row-level security of whoever asks.
///
/// It listens on loopback addresses only, so no other machine reaches it, and it is no place for real secrets.
public final class LocalSupabase: Sendable {
    /// Faults to be switched on while it runs.
    package let faults: FaultSwitches
    package let server: LoopbackServer
    private let pool: PostgresPool
    private let access: SupabaseAccess

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - postgresPort: Where a PostgreSQL on this machine lets `user` in without a password. The user must be allowed to
    ///     take the roles `anon`, `authenticated` and `service_role`.
    ///   - user: As whom the server connects.
    ///   - database: Which of that PostgreSQL's databases is served.
    ///   - port: 0 picks a free one.
    ///   - now: The clock that tokens run out by.
    /// - Throws: When the port is taken.
    public init(
        postgresPort: UInt16, user: String = "postgres", database: String = "postgres", port: UInt16 = 0,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(LocalSupabaseError) {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        access = SupabaseAccess(secret: secret) { Int64(now().timeIntervalSince1970) }
        pool = PostgresPool(port: postgresPort, user: user, database: database)
        var router = Router()
        LocalREST(pool: pool, access: access).addRoutes(to: &router)
        var configuration = ServerConfiguration()
        configuration.port = port
        do throws(ServerError) {
            let routes = router
            server = try LoopbackServer(configuration) { await routes.handle($0) }
        } catch {
            throw LocalSupabaseError("The local Supabase cannot listen on port \(port): \(error).")
        }
        faults = server.faults
    }

    /// Closes all connections; returns when nothing runs any more.
    public func stop() async {
        await server.stop()
        await pool.close()
    }

    /// Such as "http://127.0.0.1:8080": the project's address.
    public var url: URL { URL(string: server.url)! }

    /// The key that apps carry, for whoever is not signed in.
    public var anonKey: String { access.key(role: "anon") }

    /// The key that stands above all policies.
    public var serviceKey: String { access.key(role: "service_role") }

    /// An access token for `userID`, with whom no account needs to go: for tests of what people may do.
    public func accessToken(for userID: String, validFor seconds: Int = 3600) -> String {
        access.userToken(userID, validFor: Int64(seconds))
    }
}

/// Why a local Supabase cannot start.
public struct LocalSupabaseError: Error, Sendable, CustomStringConvertible {
    public let message: String

    package init(_ message: String) { self.message = message }

    public var description: String { message }
}

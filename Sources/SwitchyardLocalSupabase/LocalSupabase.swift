public import Foundation
import Switchyard
import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// A Supabase on this machine, for development and tests, on a real PostgreSQL: accounts, tables with row-level security,
/// functions, files and live changes.
///
/// ```swift
/// let supabase = try await LocalSupabase()
/// print(supabase.summary)
/// ```
///
/// It listens on loopback addresses only, so other machines cannot reach it. Do not put real secrets into it.
public final class LocalSupabase: Sendable {
    public let port: UInt16
    /// Simulated faults, which can be switched on while it runs.
    package let faults: FaultSwitches
    package let server: LoopbackServer
    /// The PostgreSQL that was started for it; `nil` if an existing one is used.
    package let postgres: LocalPostgres?
    package let database: SupabaseDatabase
    let context: LocalSupabaseContext
    let realtime: LocalRealtime
    private let services: [any LocalSupabaseService]
    private let folder: LocalSupabaseFolder

    /// Starts the database and listens.
    ///
    /// - Throws: If there is no PostgreSQL, the port is taken, or the folder cannot be used.
    public init(_ options: LocalSupabaseOptions = LocalSupabaseOptions()) async throws(LocalSupabaseError) {
        for bucket in options.buckets where !FileObjectName.isBucket(bucket) || bucket.includes("$") {
            throw LocalSupabaseError("“\(bucket)” is not a name for a bucket. Use letters, digits, “-” and “_”.")
        }
        if let wrong = options.origins.first(where: { !ServerVisitors.isOrigin($0) }) {
            throw LocalSupabaseError(
                "“\(wrong)” is not the origin of a web page. Write it as browsers do, such as https://app.example.com.")
        }
        folder = try LocalSupabaseFolder(options.folder)
        let now = options.now
        let access = SupabaseAccess(
            secret: try folder.secret(), keysSince: try folder.keysSince(now().seconds), firebase: options.firebase,
            hasGateway: options.hasGateway, signingKey: options.auth.signsWithKey ? try folder.signingKey() : nil
        ) { now().seconds }
        (postgres, database) = try await LocalSupabase.openDatabase(options, in: folder)
        context = LocalSupabaseContext(options, database, access, files: folder.files)
        realtime = LocalRealtime(context)
        services = LocalSupabase.services(on: context, realtime)
        do {
            try await LocalSupabase.prepare(database, for: services, options)
            server = try LocalSupabase.listen(options, services, former: folder.port)
            do { try folder.save(port: server.port) } catch {
                await server.stop()
                throw error
            }
        } catch {
            await database.close()
            await postgres?.stop()
            folder.release()
            switch error {
            case let error as LocalSupabaseError: throw error
            case let error as PostgresFailure:
                throw LocalSupabaseError("The database cannot be set up: \(error.message) (\(error.code)).")
            case ServerError.cannotListen(let code):
                throw LocalSupabaseError(
                    "The local Supabase cannot listen on port \(options.port): \(SystemFailure(code)). End the program that "
                        + "uses the port, or choose another with --port.")
            default: throw LocalSupabaseError("The local Supabase cannot start: \(error).")
            }
        }
        context.url = server.url
        port = server.port
        faults = server.faults
    }

    /// Uses an existing PostgreSQL on this machine; see ``LocalSupabaseOptions/Database/given(port:user:name:)``.
    public convenience init(postgresPort: UInt16) async throws(LocalSupabaseError) {
        var options = LocalSupabaseOptions()
        options.database = .given(port: postgresPort)
        try await self.init(options)
    }

    /// Its services. Each has its own tables in the database.
    private static func services(
        on context: LocalSupabaseContext, _ realtime: LocalRealtime
    ) -> [any LocalSupabaseService] {
        [
            LocalSupabaseAuth(context), LocalREST(context), LocalSupabaseFileStorage(context), LocalFunctions(context),
            realtime,
        ]
    }

    /// Closes all connections and stops the database; returns when everything has stopped. Data in the folder stays.
    public func stop() async {
        await server.stop()
        for service in services { await service.stop() }
        await database.close()
        await postgres?.stop()
        folder.release()
    }

    /// Faults between the realtime service and its clients.
    package var realtimeFaults: RealtimeFaults { realtime.faults }

    /// The IDs of the connections to the realtime service, which are never reused.
    package var realtimeSessions: Set<String> { Set(realtime.hub.sessions.map(\.id)) }

    /// The data service loses the database before the transaction: nothing is done.
    package static var losesDatabaseBefore: Fault { .answer(RESTFailure.lostDatabase.response) }

    /// The data service loses the database while committing: everything is done, but it answers as if nothing were.
    package static var losesDatabaseAfter: Fault { .replaceAnswer(RESTFailure.lostDatabase.response) }

    /// Ends all connections of the realtime service, including long-polling sessions.
    package func cutSockets() { realtime.cutSockets() }

    /// The project's URL, such as `http://127.0.0.1:8080`.
    public var url: URL { URL(string: server.url)! }

    /// The key for apps, used while no user is signed in.
    public var anonKey: String { context.access.key(role: "anon") }

    /// The service-role key. Bypasses row-level security; servers only.
    public var serviceKey: String { context.access.key(role: "service_role") }

    /// An access token for `userID`, which needs no account. For tests of policies.
    public func accessToken(for userID: String, validFor seconds: Int = 3600) -> String {
        context.access.userToken(userID, validFor: Int64(seconds))
    }

    /// The environment variables for scripts and clients of the vendor.
    public var environment: [String: String] {
        var variables = [
            "SUPABASE_URL": server.url, "SUPABASE_ANON_KEY": anonKey, "SUPABASE_SERVICE_ROLE_KEY": serviceKey,
            "SUPABASE_JWT_SECRET": String(decoding: context.access.secret, as: UTF8.self),
        ]
        if let postgres {
            variables["SUPABASE_DB_URL"] = "postgresql://\(LocalPostgres.user)@127.0.0.1:\(postgres.port)/postgres"
        }
        return variables
    }

    /// Its addresses and keys, for a terminal.
    public var summary: String {
        let variables = environment.sorted { $0.key < $1.key }.map { "    export \($0.key)=\($0.value)" }
        return
            ([
                "Local Supabase at \(server.url)",
                "It is reachable from this machine only (\(server.addresses.map { "\($0)" }.joined(separator: ", "))).",
                files,
            ] + (context.options.firebase.map { ["Accepts ID tokens of the Firebase project “\($0.name)”."] } ?? [])
            + variables).joined(separator: "\n")
    }

    private var files: String {
        if context.options.allowsEverything { return "Access to files is open: everyone may do everything." }
        let buckets = context.options.buckets.map { "“\($0)”" }.joined(separator: ", ")
        return buckets.isEmpty
            ? "Files: a bucket without policies is inaccessible."
            : "Files in \(buckets) belong to the users who upload them; other buckets need policies of your own."
    }

    // MARK: Starting

    private static func openDatabase(
        _ options: LocalSupabaseOptions, in folder: LocalSupabaseFolder
    ) async throws(LocalSupabaseError) -> (LocalPostgres?, SupabaseDatabase) {
        switch options.database {
        case .given(let port, let user, let name):
            return (nil, SupabaseDatabase(SupabaseDatabase.Place(port: port, user: user, name: name)))
        case .own:
            do throws(LocalPostgresError) {
                let postgres = try await LocalPostgres(folder: folder.database)
                let own = SupabaseDatabase.Place(port: postgres.port, user: LocalPostgres.user, name: "postgres")
                return (postgres, SupabaseDatabase(own))
            } catch {
                folder.release()
                throw LocalSupabaseError(error.description)
            }
        }
    }

    /// Sets up the database like a new project.
    private static func prepare(
        _ database: SupabaseDatabase, for services: [any LocalSupabaseService], _ options: LocalSupabaseOptions
    ) async throws {
        let connection = try await database.connect()
        defer { connection.close() }
        if case .given(let port, _, let name) = options.database {
            try await ForeignProject.refuse(name, port: port, on: connection)
        }
        // Two servers may start with the same database.
        let scripts =
            [String(decoding: PackageResources.roles_sql, as: UTF8.self)] + services.map(\.schema)
            + [FilePolicies.script(options)]
        let script = (["select pg_advisory_xact_lock(73310926)"] + scripts.filter { !$0.isEmpty })
        try await LocalSupabase.run(script.joined(separator: ";\n"), on: connection)
        for script in options.scripts { try await LocalSupabase.run(script, on: connection) }
        for service in services { try await service.start() }
    }

    /// Roles belong to the whole server: the setup of another database may change the same ones at the same time, and no lock
    /// spans databases.
    private static func run(_ script: String, on connection: PostgresConnection) async throws(PostgresFailure) {
        for attempt in 1... {
            do throws(PostgresFailure) {
                try await connection.run(script: script)
                return
            } catch {
                guard isCollision(error), attempt < 20 else { throw error }
                // A random pause, or both would collide again.
                try? await Task.sleep(for: .milliseconds(Int.random(in: 10...100)))
            }
        }
    }

    /// Whether another server changed or created the same role at the same time.
    private static func isCollision(_ failure: PostgresFailure) -> Bool {
        (failure.code == "XX000" && failure.message.includes("concurrently updated"))
            || (failure.code == "23505" && failure.message.includes("pg_authid"))
    }

    /// - Parameter former: The port to try first if the options name none; 0 for any.
    private static func listen(
        _ options: LocalSupabaseOptions, _ services: [any LocalSupabaseService], former: UInt16
    ) throws(ServerError) -> LoopbackServer {
        var router = Router()
        for service in services { service.addRoutes(to: &router) }
        var configuration = ServerConfiguration()
        configuration.port = options.port
        configuration.faultControlPath = "/_faults"
        configuration.visitors = ServerVisitors(
            origins: options.origins, controlPaths: ["/_faults", "/_supabase/faults", "/_supabase/sent"],
            remedy: "name it when you start the server: --origin, or LocalSupabaseOptions.origins.")
        let routes = CrossOrigin(
            router: router,
            exposed:
                "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit",
            exception: LocalFunctions.path, answersOptions: true,
            ownPreflights: options.hasGateway ? [] : ["/rest/v1/", "/storage/v1/"])
        return try LoopbackServer(configuration, preferring: former) { await routes.answer($0.withResolvedPath) }
    }
}

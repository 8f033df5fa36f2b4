import SwitchyardLocalSupabase
import SwitchyardServerKit

#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardLocalSupabase
    import SwitchyardServerKit
    import SwitchyardSupabase
    import SwitchyardTestSupport

    /// A project on this machine in a separate process: the local Supabase with a real PostgreSQL, with documents in it.
    struct SupabaseBenchSite: Sendable {
        let url: String
        /// The publishable key. In this database it bypasses all policies too, so that the figures do not depend on them.
        let key: String
        let serviceKey: String
        private let databasePort: UInt16
        private let server: ChildServer

        static func start(
            _ section: String, _ settings: BenchSettings, area: String = "supabase"
        ) throws -> SupabaseBenchSite {
            guard PostgresServer.isInstalled else { throw BenchFailure("PostgreSQL is not installed") }
            let server = try ChildServer(area: area, section: section, settings)
            guard server.details.count == 3, let databasePort = UInt16(server.details[2]) else {
                throw BenchFailure("the server did not report its keys")
            }
            return SupabaseBenchSite(
                url: "http://127.0.0.1:\(server.port)", key: server.details[0], serviceKey: server.details[1],
                databasePort: databasePort, server: server)
        }

        /// A direct connection to the database.
        func database() async throws -> PostgresConnection {
            try await PostgresConnection(port: databasePort, user: LocalPostgres.user, database: "postgres")
        }

        func stop() { server.stop() }

        var configuration: SupabaseConfiguration {
            SupabaseConfiguration(url: url, key: Secret(key), serviceKey: Secret(serviceKey))
        }

        func storage(_ tables: [SupabaseTableMapping] = []) async throws -> any StorageClient {
            var configuration = configuration
            configuration.tables = tables
            return try await SupabaseModule(configuration).makeStorageClient(ModuleContext())
        }

        /// The header fields of a bare client.
        var headers: [String] { ["apikey: \(key)", "Authorization: Bearer \(key)", "Content-Type: application/json"] }

        func url(ofFunction name: String) -> String { "\(url)/rest/v1/rpc/\(name)" }

        /// The server process: serves until it is told to stop.
        ///
        /// - Parameter filling: SQL that creates the contents.
        static func serve(filling: String) async throws {
            let postgres = try await PostgresServer(aloneWith: nil)
            defer { postgres.stop() }
            let supabase = try await LocalSupabase(postgresPort: UInt16(postgres.port))
            try await postgres.query(DocumentSchema.installation(of: [.documents, .messages, .domain], anon: true))
            try await postgres.query(filling)
            try await postgres.query("ALTER ROLE anon BYPASSRLS; GRANT service_role TO anon")
            print("\(supabase.url.port!) \(supabase.anonKey) \(supabase.serviceKey) \(postgres.port)")
            fflush(nil)
            while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
            await supabase.stop()
        }
    }
#endif

import SwitchyardLocalSupabase
import SwitchyardServerKit

#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardLocalSupabase
    import SwitchyardServerKit
    import SwitchyardSupabase
    import SwitchyardTestSupport

    /// A project of this machine in a process of its own: the local Supabase on a real PostgreSQL, with documents in it.
    struct SupabaseBenchSite: Sendable {
        let url: String
        /// Above all policies, so that what is measured is the way there and not somebody's policies.
        let key: String
        private let databasePort: UInt16
        private let server: ChildServer

        static func start(
            _ section: String, _ settings: BenchSettings, area: String = "supabase"
        ) throws -> SupabaseBenchSite {
            guard PostgresServer.isInstalled else { throw BenchFailure("PostgreSQL is not installed") }
            let server = try ChildServer(area: area, section: section, settings)
            guard let key = server.details.first, let databasePort = server.details.last.flatMap({ UInt16($0) }) else {
                throw BenchFailure("the server did not tell its key")
            }
            return SupabaseBenchSite(
                url: "http://127.0.0.1:\(server.port)", key: key, databasePort: databasePort, server: server)
        }

        /// Straight to where the documents are.
        func database() async throws -> PostgresConnection {
            try await PostgresConnection(port: databasePort, user: LocalPostgres.user, database: "postgres")
        }

        func stop() { server.stop() }

        var configuration: SupabaseConfiguration {
            SupabaseConfiguration(url: url, key: Secret(key), serviceKey: Secret(key))
        }

        func storage() async throws -> any StorageClient {
            try await SupabaseModule(configuration).makeStorageClient(ModuleContext())
        }

        /// What a bare client sends along.
        var headers: [String] { ["apikey: \(key)", "Authorization: Bearer \(key)", "Content-Type: application/json"] }

        func url(ofFunction name: String) -> String { "\(url)/rest/v1/rpc/\(name)" }

        /// The other process: serves until it is told to stop.
        ///
        /// - Parameter filling: SQL for what is to be there.
        static func serve(filling: String) async throws {
            let postgres = try await PostgresServer(aloneWith: nil)
            defer { postgres.stop() }
            let supabase = try await LocalSupabase(postgresPort: UInt16(postgres.port))
            try await postgres.query(DocumentSchema.sql)
            try await postgres.query(filling)
            print("\(supabase.url.port!) \(supabase.serviceKey) \(postgres.port)")
            fflush(nil)
            while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
            await supabase.stop()
        }
    }
#endif

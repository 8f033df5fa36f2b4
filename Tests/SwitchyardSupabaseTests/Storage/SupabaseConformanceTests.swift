import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// A project of its own: a local Supabase over a real PostgreSQL with the document functions in it.
struct SupabaseSite: Sendable {
    let postgres: PostgresServer
    let supabase: LocalSupabase

    /// - Parameter maximumRows: How many rows the service answers with at most, without a word on the rest.
    init(maximumRows: Int = LocalSupabaseOptions().maximumRows) async throws {
        postgres = try await PostgresServer()
        try await postgres.query(DocumentSchema.sql)
        var options = LocalSupabaseOptions()
        options.database = postgres.place
        options.maximumRows = maximumRows
        supabase = try await LocalSupabase(options)
    }

    /// One for all checks; each has a namespace of its own there. Its processes end with this one.
    static let shared = Task { try await SupabaseSite() }

    func service(key: String? = nil, transport: any Transport = CurlTransport()) throws -> PostgRESTService {
        PostgRESTService(
            project: try SupabaseProject(supabase.server.url),
            tokens: SupabaseTokens(key: Secret(key ?? supabase.accessToken(for: "tester")), auth: nil),
            transport: transport)
    }

    func client(key: String? = nil) throws -> SyncedStorageClient {
        SyncedStorageClient(
            driver: SupabaseDriver(service: try service(key: key), pace: SupabaseWatch.Pace(alone: .milliseconds(25))))
    }

    /// One for which pauses between attempts are short.
    func hurriedClient() throws -> SyncedStorageClient {
        let clock = BriefClock()
        let pace = SupabaseWatch.Pace(alone: .milliseconds(25) * clock.factor)
        return SyncedStorageClient(
            driver: SupabaseDriver(service: try service(), pace: pace, clock: clock), clock: clock)
    }

    func stop() async {
        await supabase.stop()
        postgres.stop()
    }
}

struct SupabaseHarness: StorageHarness {
    static let features: StorageFeatures = {
        var capabilities = StorageCapabilities.all
        capabilities.maximumBatchSize = 500
        return StorageFeatures(capabilities)
    }()

    let site: SupabaseSite
    var features: StorageFeatures { Self.features }

    func makeStorageClient() async throws -> any StorageClient { try site.client() }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseConformanceTests {
    static let run = ConformanceRun(
        "supabase documents", StorageConformance.all, for: SupabaseHarness.features, part: 2
    ) {
        SupabaseHarness(site: try await SupabaseSite.shared.value)
    }

    @Test(.beside(run), arguments: run.checks)
    func `Documents on Postgres`(_ check: StorageCheck) async throws {
        try await Self.run.outcome(of: check)
    }
}

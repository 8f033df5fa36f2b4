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

/// Documents without a cache and a queue, as servers have them for each request.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DirectConformanceTests {
    private struct Harness: StorageHarness {
        static let features: StorageFeatures = {
            var capabilities = SupabaseHarness.features.capabilities
            capabilities.offline = false
            return StorageFeatures(capabilities)
        }()

        let site: SupabaseSite
        var features: StorageFeatures { Self.features }

        func makeStorageClient() async throws -> any StorageClient {
            DirectStorageClient(
                SupabaseDriver(
                    service: try site.service(), pace: SupabaseWatch.Pace(alone: .milliseconds(25))))
        }
    }

    private static let run = ConformanceRun(
        "supabase documents without a cache", StorageConformance.all, for: Harness.features, part: 4
    ) {
        Harness(site: try await SupabaseSite.shared.value)
    }

    @Test(.beside(run), arguments: run.checks)
    func `Documents on Postgres, without a cache`(_ check: StorageCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `Streams share one engine, which goes with the last of them`() async throws {
        let site = try await SupabaseSite.shared.value
        let client = DirectStorageClient(
            SupabaseDriver(service: try site.service(), pace: SupabaseWatch.Pace(alone: .milliseconds(25))))
        for _ in 0..<3 {
            try await client.setDocument("direct/a", ["n": 1])
            var first = client.snapshots(of: "direct/a" as StoragePath).makeAsyncIterator()
            var second = client.snapshots(of: Query(in: "direct")).makeAsyncIterator()
            while let snapshot = try await first.next(), snapshot["n"] != 1 {}
            try await client.setDocument("direct/a", ["n": 2])
            while let snapshot = try await first.next(), snapshot["n"] != 2 {}
            while let snapshot = try await second.next(), snapshot.documents.first?["n"] != 2 {}
        }
        try await eventually("the engine is gone") { client.openStreams == 0 }
        #expect(try await client.document("direct/a")["n"] == 2)
    }

    @Test func `A server acts for many callers at once, and none sees more than is theirs`() async throws {
        // In the shared one other tests open the collection `users`.
        let site = try await SupabaseSite()
        var configuration = SupabaseConfiguration(url: site.supabase.server.url, key: Secret(site.supabase.anonKey))
        configuration.jwtSecret = Secret(site.supabase.environment["SUPABASE_JWT_SECRET"] ?? "")
        var options = InfrastructureOptions()
        // As many as the local server answers without hurry; the others wait.
        options.callLimits.underWay = 16
        let backend = try await Infrastructure(.supabase(configuration), in: options)
        let crowd = Crowd(150) { [supabase = site.supabase] number, isOld in
            let user = "caller-\(number)"
            return VerifiedToken(
                token: Secret(supabase.accessToken(for: user, validFor: isOld ? -100 : 3600)), provider: .supabase,
                userID: user, issuer: "test", expiresAt: Date(timeIntervalSinceNow: 3600))
        }
        let outcome = try await crowd.ask(backend)
        #expect(outcome.failures.prefix(3) == [])
        #expect(outcome.mixedUp.prefix(3) == [])
        #expect(outcome.served == crowd.staying && outcome.renewed == crowd.renewing)
        let late = try await backend.acting(
            as: VerifiedToken(
                token: Secret(site.supabase.accessToken(for: "late", validFor: -100)), provider: .supabase,
                userID: "late", issuer: "test", expiresAt: Date(timeIntervalSinceNow: -100)))
        let error = await #expect(throws: StorageError.self) {
            try await late.storage.setDocument("users/late", ["n": 1])
        }
        #expect(error?.code == .unauthenticated)
        let following = await #expect(throws: StorageError.self) {
            for try await _ in late.storage.snapshots(of: "users/late" as StoragePath) {}
        }
        #expect(following?.code == .unauthenticated && following?.isRetryable == false, "a stream ends, too")
        await backend.shutDown()
        await site.stop()
    }
}

import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Files as a server has them: for whoever has sent a request, and for the project itself.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ActingFilesTests {
    private struct Harness: FileHarness {
        static let features = SupabaseFilesSite.features.forCallers
        let site: SupabaseFilesSite
        let backend: Infrastructure
        var features: FileFeatures { Self.features }

        init() async throws {
            site = try await SupabaseFilesSite.shared.value
            var configuration = SupabaseConfiguration(
                url: site.supabase.server.url, key: Secret(site.supabase.anonKey), bucket: SupabaseFilesSite.bucket)
            configuration.serviceKey = Secret(site.supabase.serviceKey)
            backend = try await Infrastructure(.supabase(configuration))
        }

        func acting(as user: AuthUser.ID) async throws -> ActingClients {
            try await backend.acting(
                as: VerifiedToken(
                    token: Secret(site.supabase.accessToken(for: user)), provider: .supabase, userID: user,
                    issuer: "test", expiresAt: Date(timeIntervalSinceNow: 3600)))
        }

        func makeFileClient() async throws -> any FileStorageClient { try await acting(as: "alice").files }
        func fetch(_ url: URL) async throws -> Data? { try await site.fetch(url) }
        func forbiddenFile(in namespace: ConformanceNamespace) async throws -> FilePath {
            try await site.forbiddenFile(in: namespace)
        }
    }

    private static let run = ConformanceRun(
        "supabase files of callers, local", FileConformance.all, for: Harness.features, part: 4
    ) { try await Harness() }

    @Test(.beside(run), arguments: run.checks)
    func `Supabase's files, for whoever has sent a request`(_ check: FileCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `The project reads and deletes what no one else may`() async throws {
        let harness = try await Harness()
        let (bob, alice) = (try await harness.acting(as: "bob").files, try await harness.acting(as: "alice").files)
        let folder = try FilePath(validating: "users/bob/private/\(UUID().uuidString)")
        let path = try FilePath(validating: "\(folder)/a.txt")
        try await bob.put(Data("for bob only".utf8), at: path)
        await #expect(throws: FileStorageError.self) { try await alice.data(at: path) }
        let project = try await harness.backend.actingAsProject().files
        #expect(project.capabilities == Harness.features.capabilities)
        #expect(try await project.data(at: path) == Data("for bob only".utf8))
        #expect(try await project.list(folder).files.map(\.path) == [path])
        try await project.delete(path)
        let gone = await #expect(throws: FileStorageError.self) { try await bob.metadata(of: path) }
        #expect(gone?.code == .notFound)
        await harness.backend.shutDown()
    }

    @Test func `Callers' clients come and go, and what they share stays`() async throws {
        let harness = try await Harness()
        let path = try FilePath(validating: "users/alice/\(UUID().uuidString)")
        let first = try await harness.acting(as: "alice").files
        await first.shutDown()
        let closed = await #expect(throws: FileStorageError.self) { try await first.metadata(of: path) }
        #expect(closed?.code == .shutDown)
        // One that no one holds any more finishes its transfers.
        let transfer = try await harness.acting(as: "alice").files.upload(.data(Data(count: 600_000)), to: path)
        #expect(try await transfer.result().size == 600_000)
        #expect(try await harness.acting(as: "alice").files.metadata(of: path).size == 600_000)
        await harness.backend.shutDown()
    }
}

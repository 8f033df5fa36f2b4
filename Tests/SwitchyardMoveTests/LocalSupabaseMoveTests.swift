import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed")) struct LocalSupabaseMoveTests {
    @Test func `From a mock to a local Supabase, and back to another mock`() async throws {
        let bed = MoveBed()
        let (old, last) = (try await MoveBed.filledMock(documents: 90), MockBackend())
        var serverOptions = LocalSupabaseOptions()
        serverOptions.scripts = [DocumentSchema.sql]
        serverOptions.buckets = ["files"]
        let server = try await LocalSupabase.onSharedPostgres(serverOptions)
        var configuration = SupabaseConfiguration(url: server.url.absoluteString, key: Secret(server.anonKey))
        configuration.serviceKey = Secret(server.serviceKey)
        configuration.bucket = "files"
        let supabase = try await Infrastructure(SupabaseModule(configuration))
        var options = MoveOptions()
        options.ownerFields = ["owner"]
        let middle = try await BackendEnd(supabase)
        let there = Move(from: try await BackendEnd(old.infrastructure(), name: "old"), to: middle, options: options)
        let plan = try await there.plan()
        #expect(plan.accounts?.withOtherID == 5)
        // PostgreSQL stores no U+0000, and the plan has named each document with one.
        let unfit = Set(plan.problems.map(\.path))
        #expect(!unfit.isEmpty)
        let report = try await there.run(plan, journal: bed.folder("there")).result()
        #expect(report.renamedAccounts == 5)
        #expect(report.rejections.count == unfit.count, "\(report)")
        #expect(report.documents + report.rejections.count == plan.documents)
        let verification = try await there.verify(plan, journal: bed.folder("there"))
        #expect(verification.differences.allSatisfy { $0.kind == .missing && $0.part == .documents }, "\(verification)")
        #expect(verification.differences.count == unfit.count)

        let back = Move(from: middle, to: try await BackendEnd(last.infrastructure(), name: "last"))
        let planBack = try await back.plan()
        #expect(planBack.documents == report.documents)
        let reportBack = try await back.run(planBack, journal: bed.folder("back")).result()
        #expect(reportBack.rejections.isEmpty && reportBack.renamedAccounts == 0)
        let verificationBack = try await back.verify(planBack)
        #expect(verificationBack.isEqual, "\(verificationBack)")
        await supabase.shutDown()
        await server.stop()
    }
}

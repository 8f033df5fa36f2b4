import Switchyard
import SwitchyardConformance
import SwitchyardTestRuns
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseFileConformanceTests {
    static let run = ConformanceRun(
        "firebase files, local", FileConformance.all, for: LocalFilesSite.features
    ) { check in
        let site = try LocalFilesSite()
        try await check(site)
        await site.stop()
    }

    @Test(.beside(run), arguments: run.checks)
    func `Firebase's file storage`(_ check: FileCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `The adapter declares what the checks are chosen by`() async throws {
        let site = try LocalFilesSite()
        let client = try site.client()
        #expect(client.capabilities == LocalFilesSite.features.capabilities)
        await client.shutDown()
        await site.stop()
    }

    @Test func `Checks that Firebase skips`() {
        #expect(
            FileConformance.leftOut(for: LocalFilesSite.features) == [
                "a file above the bound is refused", "a copy is a file of its own",
                "a moved file is where it went, and nowhere else", "what is not there can be neither copied nor moved",
                "an address that expires leads to the file until then", "what is not there has no address",
            ])
    }
}

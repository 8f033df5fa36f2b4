import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestRuns
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseAuthConformanceTests {
    static let run = ConformanceRun("firebase auth", AuthConformance.all, for: LocalAuthHarness.features) { check in
        let harness = try LocalAuthHarness()
        do {
            try await check(harness)
        } catch {
            await harness.firebase.stop()
            throw error
        }
        await harness.firebase.stop()
    }

    @Test(.beside(run), arguments: run.checks)
    func `Firebase's auth`(_ check: AuthCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `Checks that Firebase skips`() {
        #expect(
            AuthConformance.leftOut(for: LocalAuthHarness.features) == [
                "signing out everywhere ends the sessions of all devices", "signing out the others leaves this session",
                "a code sent to a phone signs in", "a wrong code from a phone is refused",
                "what is no phone number is refused",
            ] + AuthConformance.all.filter { $0.area == "confirmations" }.map(\.name))
    }
}

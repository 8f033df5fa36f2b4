import Switchyard
import SwitchyardConformance
import SwitchyardEmulator
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseAuthConformanceTests {
    static let tally = ConformanceTally("firebase auth", AuthConformance.all, for: LocalAuthHarness.features)

    @Test(arguments: AuthConformance.checks(for: LocalAuthHarness.features))
    func `Firebase's auth`(_ check: AuthCheck) async throws {
        let harness = try LocalAuthHarness()
        do {
            try await Self.tally.run(check, on: harness)
        } catch {
            await harness.firebase.stop()
            throw error
        }
        await harness.firebase.stop()
    }

    @Test func `What Firebase is spared`() {
        #expect(
            AuthConformance.leftOut(for: LocalAuthHarness.features) == [
                "signing out everywhere ends the sessions of all devices", "signing out the others leaves this session",
                "a code sent to a telephone signs in", "a wrong code from a telephone is refused",
                "what is no telephone number is refused",
            ])
    }
}

import Foundation
import Switchyard
import Testing

@testable import SwitchyardFirebase
@testable import SwitchyardLocalFirebase

/// Mails that confirm an address: signing up waits for none, a new address does where the project protects addresses.
@Suite struct FirebaseConfirmationTests {
    private func withHarness(_ body: (LocalAuthHarness, any AuthClient) async throws -> Void) async throws {
        let harness = try LocalAuthHarness()
        let client = try await harness.makeAuthClient()
        do {
            try await body(harness, client)
        } catch {
            await client.shutDown()
            await harness.firebase.stop()
            throw error
        }
        await client.shutDown()
        await harness.firebase.stop()
    }

    private func mails(_ harness: LocalAuthHarness) throws -> [AccountDatabase.MailedCode] {
        try harness.firebase.auth.perform { register throws(AuthFailure) in register.mailedCodes }
    }

    @Test func `The mail for one's own address is sent to the signed-in, until it is confirmed`() async throws {
        try await withHarness { harness, client in
            let code = await #expect(throws: AuthError.self) {
                try await client.resendConfirmation(to: "ann@example.com")
            }?.code
            #expect(code == .notSignedIn)
            try await client.signUp(email: "ann@example.com", password: "long enough").get()
            try await client.resendConfirmation(to: "Ann@Example.com")
            #expect(try mails(harness).map(\.purpose) == [.verifyEmail])
            try await client.resendConfirmation(to: "somebody@example.com")
            try await harness.confirmEmail("ann@example.com")
            try await client.resendConfirmation(to: "ann@example.com")
            #expect(try mails(harness).count == 1, "nothing for others, and nothing once it is confirmed")
        }
    }

    @Test func `A new address waits for its mail where addresses are protected`() async throws {
        try await withHarness { harness, client in
            try await client.signUp(email: "ann@example.com", password: "long enough").get()
            guard case .changed(let user) = try await client.changeEmail(to: "ann@example.org") else {
                Issue.record("The address did not change.")
                return
            }
            #expect(user.email == "ann@example.org")
            try harness.firebase.auth.perform { register throws(AuthFailure) in register.settings.protectsEmails = true
            }
            let result = try await client.changeEmail(to: "ann@example.net")
            #expect(result == .confirmationSent(to: "ann@example.net"))
            #expect(try mails(harness).last?.newEmail == "ann@example.net")
            #expect(try await client.reloadUser().email == "ann@example.org")
        }
    }
}

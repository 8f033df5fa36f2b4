import Switchyard
import SwitchyardMock
import Testing

@Suite struct SignUpResultTests {
    @Test func `The user of a sign-up is there, or the way to them is named`() throws {
        let user = AuthUser(id: "alice", email: "alice@example.com")
        #expect(SignUpResult.signedIn(user).user == user)
        #expect(try SignUpResult.signedIn(user).get() == user)
        let waiting = SignUpResult.confirmationSent(to: "alice@example.com")
        #expect(waiting.user == nil)
        let error = #expect(throws: AuthError.self) { try waiting.get() }
        #expect(error?.code == .emailNotConfirmed)
        for text in ["\(waiting)", "\(SignUpResult.signedIn(user))", "\(error?.message ?? "")"] {
            #expect(!text.contains("@"), "addresses stay out of logs")
        }
    }

    @Test func `A changed address has taken effect, or waits for its mail`() async throws {
        let backend = MockBackend()
        let auth = MockAuthClient(backend)
        let user = try await auth.signUp(email: "alice@example.com", password: "long enough").get()
        guard case .changed(let changed) = try await auth.changeEmail(to: "Alice@example.org") else {
            Issue.record("The address did not change.")
            return
        }
        #expect(changed.id == user.id && changed.email == "alice@example.org")
        backend.accounts.asksForConfirmation = true
        let result = try await auth.changeEmail(to: "alice@example.net")
        #expect(result == .confirmationSent(to: "alice@example.net") && !"\(result)".contains("@"))
        #expect(try await auth.reloadUser().email == "alice@example.org")
        // Another account has taken it meanwhile: no one's address changes.
        backend.accounts.asksForConfirmation = false
        try await MockAuthClient(backend).signUp(email: "alice@example.net", password: "long enough")
        backend.accounts.confirmEmail("alice@example.net")
        #expect(try await auth.reloadUser().email == "alice@example.org")
    }
}

import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Testing

@MainActor @Suite struct SessionTests {
    @Test func `A session follows sign-up, sign-out and sign-in, and says why one fails`() async throws {
        let session = Session(MockAuthClient(MockBackend()))
        try await eventually("nobody") { if case .signedOut = session.state { true } else { false } }
        #expect(await session.signUp(email: "ann@example.com", password: "long enough"))
        #expect(session.isSignedIn && session.user?.email == "ann@example.com" && !session.isWorking)
        #expect(await session.signOut())
        #expect(!session.isSignedIn)
        #expect(await !session.signIn(email: "ann@example.com", password: "wrong"))
        #expect(session.error?.code == .invalidCredential)
        #expect(await session.signIn(email: "ann@example.com", password: "long enough"))
        #expect(session.error == nil && session.isSignedIn)
    }

    @Test func `Signing up where addresses are confirmed says where the mail went, until the next try`() async throws {
        let backend = MockBackend()
        backend.accounts.asksForConfirmation = true
        let session = Session(MockAuthClient(backend))
        #expect(await session.signUp(email: "ann@example.com", password: "long enough"))
        #expect(session.confirmationSentTo == "ann@example.com" && !session.isSignedIn && session.error == nil)
        #expect(await session.resendConfirmation())
        #expect(session.confirmationSentTo == "ann@example.com" && backend.accounts.mails.count == 2)
        #expect(await !session.signIn(email: "ann@example.com", password: "long enough"))
        #expect(session.error?.code == .emailNotConfirmed && session.confirmationSentTo == nil)
        let link = try #require(backend.accounts.mails.last?.link)
        #expect(await session.signIn(with: .emailLink(email: "ann@example.com", link)))
        #expect(session.user?.isEmailVerified == true)
    }

    @Test func `What happens elsewhere is seen too`() async throws {
        let auth = MockAuthClient(MockBackend())
        let session = Session(auth)
        try await eventually("nobody") { if case .signedOut = session.state { true } else { false } }
        try await auth.signUp(email: "ann@example.com", password: "long enough")
        try await eventually("the user") { session.isSignedIn }
    }
}

import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct MockTokenVerifierTests {
    @Test func `A mock's token is good until it runs out or its session ends, and no one else's is`() async throws {
        let time = MovedClock()
        let mock = MockBackend(now: { time.now })
        let backend = try await Infrastructure(.mock(mock))
        let verifier = try await backend.tokenVerifier()
        try await backend.auth.signUp(email: "ada@example.com", password: "secret")
        let user = try #require(await backend.auth.currentUser)
        let token = try await backend.auth.accessToken().value
        let verified = try await verifier.verify(authorization: "bearer " + token.reveal(), checksRevocation: true)
        #expect(verified.userID == user.id && verified.email == "ada@example.com" && verifier.provider == .mock)

        let foreign = try await Infrastructure(.mock(MockBackend()))
        try await foreign.auth.signUp(email: "eve@example.com", password: "secret")
        let others = try await foreign.auth.accessToken().value
        func code(_ token: Secret, asks: Bool = false) async -> ErrorCode? {
            do throws(TokenError) {
                _ = try await verifier.verify(token, checksRevocation: asks)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await code(others) == .invalidSignature)
        #expect(await code("text") == .malformedToken)
        mock.accounts.endSessions(of: user.id)
        #expect(await code(token) == nil)
        #expect(await code(token, asks: true) == .tokenRevoked)
        mock.accounts.setDisabled(true, user.id)
        #expect(await code(token, asks: true) == .userDisabled)
        time.advance(3601)
        #expect(await code(token) == .tokenExpired)
        await foreign.shutDown()
        await backend.shutDown()
    }
}

import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Synchronization

/// One project with many devices. Its authenticator app shows the code of another step at each call.
final class MockAuthHarness: AuthHarness {
    let features: AuthFeatures
    let backend: MockBackend
    private let stores = Mutex<[ObjectIdentifier: MockSessionStore]>([:])
    private let calls = Counter()

    private let time: TestTime?

    /// - Parameters:
    ///   - capabilities: What the clients declare.
    ///   - time: A clock that can be moved so that tokens run out; for checks that run one after the other.
    init(_ capabilities: AuthCapabilities = .all, time: TestTime? = nil) {
        var features = AuthFeatures(capabilities)
        features.keepsSessions = true
        features.endsSessions = true
        features.disablesAccounts = true
        features.agesTokens = time != nil
        self.features = features
        self.time = time
        backend = if let time { MockBackend(now: { time.now }) } else { MockBackend() }
    }

    func expireAccessToken(of client: any AuthClient) async throws { time?.advance(by: .seconds(3600)) }

    func makeAuthClient() async throws -> any AuthClient { make(MockSessionStore()) }

    func reopen(_ client: any AuthClient) async throws -> any AuthClient {
        let store = (client as? MockAuthClient).flatMap { client in stores.withLock { $0[ObjectIdentifier(client)] } }
        return make(store ?? MockSessionStore())
    }

    private func make(_ store: MockSessionStore) -> MockAuthClient {
        let client = MockAuthClient(backend, store: store, capabilities: features.capabilities)
        stores.withLock { $0[ObjectIdentifier(client)] = store }
        return client
    }

    func confirmEmail(_ email: String) async throws { backend.accounts.confirmEmail(email) }
    func resetCode(for email: String) async throws -> Secret { try code(.passwordReset, email) }
    func phoneCode(for phoneNumber: String) async throws -> Secret { try code(.phoneCode, phoneNumber) }
    func signInLink(for email: String) async throws -> URL {
        guard let link = backend.accounts.mail(.signInLink, to: email)?.link else { throw NoMail() }
        return link
    }
    func customToken(for userID: String) async throws -> Secret { backend.accounts.customToken(for: userID) }
    func identityToken(of provider: IdentityProvider, subject: String, email: String) async throws -> Secret {
        backend.accounts.identityToken(of: provider, subject: subject, email: email)
    }
    func completeBrowserSignIn(_ signIn: BrowserSignIn, email: String) async throws -> URL {
        try backend.accounts.authorize(signIn, as: "subject of \(email)", email: email)
    }
    func secondFactorCode(for sharedKey: Secret) async throws -> Secret {
        guard let code = backend.accounts.oneTimeCode(for: sharedKey, stepsAhead: calls.next() % 2) else {
            throw NoMail()
        }
        return code
    }
    func endSessions(of user: AuthUser) async throws { backend.accounts.endSessions(of: user.id) }
    func disable(_ user: AuthUser) async throws { backend.accounts.setDisabled(true, user.id) }

    private func code(_ kind: MockMail.Kind, _ recipient: String) throws -> Secret {
        guard let mail = backend.accounts.mail(kind, to: recipient) else { throw NoMail() }
        return mail.code
    }

    private struct NoMail: Error {}
}

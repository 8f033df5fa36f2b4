package import Foundation
package import Switchyard
import SwitchyardMock
import Synchronization

/// One project with many devices. Each call of its authenticator app returns the code of another time step.
package final class MockAuthHarness: AuthHarness {
    package let features: AuthFeatures
    private let backend: MockBackend
    private let stores = Mutex<[ObjectIdentifier: MockSessionStore]>([:])
    private let calls = Mutex(0)
    private let time: MovableTime?
    private let around: @Sendable (any AuthClient) -> any AuthClient

    /// A clock that can be moved to make tokens expire, for checks that run one after the other.
    package struct MovableTime: Sendable {
        let now: @Sendable () -> Timestamp
        let advance: @Sendable (Duration) -> Void

        package init(now: @escaping @Sendable () -> Timestamp, advance: @escaping @Sendable (Duration) -> Void) {
            self.now = now
            self.advance = advance
        }
    }

    /// - Parameters:
    ///   - capabilities: The clients' capabilities.
    ///   - asksForConfirmation: Whether new accounts must confirm their address.
    ///   - around: Adds layers to each client.
    package init(
        _ capabilities: AuthCapabilities = .all, asksForConfirmation: Bool = false, time: MovableTime? = nil,
        around: @escaping @Sendable (any AuthClient) -> any AuthClient = { $0 }
    ) {
        self.around = around
        var features = AuthFeatures(capabilities)
        features.keepsSessions = true
        features.endsSessions = true
        features.disablesAccounts = true
        features.agesTokens = time != nil
        features.asksForConfirmation = asksForConfirmation
        features.confirmsNewAddresses = asksForConfirmation
        self.features = features
        self.time = time
        backend = if let time { MockBackend(now: time.now) } else { MockBackend() }
        backend.accounts.asksForConfirmation = asksForConfirmation
    }

    package func expireAccessToken(of client: any AuthClient) async throws { time?.advance(.seconds(3600)) }

    package func makeAuthClient() async throws -> any AuthClient { make(MockSessionStore()) }

    package func reopen(_ client: any AuthClient) async throws -> any AuthClient {
        let store = client.unwrapped(as: MockAuthClient.self).flatMap { client in
            stores.withLock { $0[ObjectIdentifier(client)] }
        }
        return make(store ?? MockSessionStore())
    }

    private func make(_ store: MockSessionStore) -> any AuthClient {
        let client = MockAuthClient(backend, store: store, capabilities: features.capabilities)
        stores.withLock { $0[ObjectIdentifier(client)] = store }
        return around(client)
    }

    package func confirmEmail(_ email: String) async throws { backend.accounts.confirmEmail(email) }
    package func confirmationLink(for email: String) async throws -> URL {
        guard let link = backend.accounts.mail(.addressConfirmation, to: email)?.link else { throw NoMail() }
        return link
    }
    package func resetCode(for email: String) async throws -> Secret { try code(.passwordReset, email) }
    package func phoneCode(for phoneNumber: String) async throws -> Secret { try code(.phoneCode, phoneNumber) }
    package func signInLink(for email: String) async throws -> URL {
        guard let link = backend.accounts.mail(.signInLink, to: email)?.link else { throw NoMail() }
        return link
    }
    package func customToken(for userID: String) async throws -> Secret { backend.accounts.customToken(for: userID) }
    package func identityToken(of provider: IdentityProvider, subject: String, email: String) async throws -> Secret {
        backend.accounts.identityToken(of: provider, subject: subject, email: email)
    }
    package func completeBrowserSignIn(_ signIn: BrowserSignIn, email: String) async throws -> URL {
        try backend.accounts.authorize(signIn, as: "subject of \(email)", email: email)
    }
    package func secondFactorCode(for sharedKey: Secret) async throws -> Secret {
        guard let code = backend.accounts.oneTimeCode(for: sharedKey, stepsAhead: nextCall() % 2) else {
            throw NoMail()
        }
        return code
    }
    package func endSessions(of user: AuthUser) async throws { backend.accounts.endSessions(of: user.id) }
    package func disable(_ user: AuthUser) async throws { backend.accounts.setDisabled(true, user.id) }

    private func nextCall() -> Int {
        calls.withLock { calls in
            calls += 1
            return calls
        }
    }

    private func code(_ kind: MockMail.Kind, _ recipient: String) throws -> Secret {
        guard let mail = backend.accounts.mail(kind, to: recipient) else { throw NoMail() }
        return mail.code
    }

    private struct NoMail: Error {}
}

public import Foundation
public import Switchyard

/// Supplied by the author of an auth provider to run the checks.
///
/// Signing up signs in at once, unless ``features`` declare that it requires confirmation; then the harness opens the email.
/// Passwords of six characters must be accepted. Apart from ``makeAuthClient()``, a hook is needed only for the ``features``
/// that use it. Each hook simulates something outside the client: reading an email, filling in a page, an administrator.
public protocol AuthHarness: Sendable {
    var features: AuthFeatures { get }

    /// A new device for each call: a client without a session. It is shut down after the check.
    func makeAuthClient() async throws -> any AuthClient

    /// The same device after a restart of the app: `client` was shut down. For ``AuthFeatures/keepsSessions``.
    func reopen(_ client: any AuthClient) async throws -> any AuthClient

    /// The email address of a person who exists only in `namespace`. The default is at `example.com`.
    func email(_ name: String, in namespace: ConformanceNamespace) -> String
    /// A phone number of such a person.
    func phoneNumber(in namespace: ConformanceNamespace) -> String

    /// Marks the address of a new account as confirmed, as the link in the email does; for providers that require it before
    /// anything else, or before a second factor. Called once for each address.
    func confirmEmail(_ email: String) async throws
    /// The same for the first address of an anonymous account, whose email may be another kind; by default the same hook.
    func confirmFirstEmail(_ email: String) async throws
    /// The link in the newest email that asks to confirm the address of a new account.
    func confirmationLink(for email: String) async throws -> URL
    /// Opens the emails that confirm a change of address; by default, only the one to `email`.
    func confirmChange(from old: String, to email: String) async throws
    /// The code in the newest password-reset email.
    func resetCode(for email: String) async throws -> Secret
    /// The link in the newest sign-in email.
    func signInLink(for email: String) async throws -> URL
    /// The code in the newest text message.
    func phoneCode(for phoneNumber: String) async throws -> Secret
    /// A token as the app's own server would sign it for this user.
    func customToken(for userID: String) async throws -> Secret
    /// An identity token as `provider` would issue it. The same subject is the same person.
    func identityToken(of provider: IdentityProvider, subject: String, email: String) async throws -> Secret
    /// Completes the browser sign-in as a person would, and returns the URL to which the browser returns.
    func completeBrowserSignIn(_ signIn: BrowserSignIn, email: String) async throws -> URL
    /// The next code of an authenticator app; a different one at each call.
    func secondFactorCode(for sharedKey: Secret) async throws -> Secret

    /// Expires the client's access token.
    func expireAccessToken(of client: any AuthClient) async throws
    /// Ends all sessions of the account on the server.
    func endSessions(of user: AuthUser) async throws
    /// Disables the account on the server.
    func disable(_ user: AuthUser) async throws

    /// Called after the accounts that clients can delete are deleted: removes what is left. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension AuthHarness {
    public func reopen(_ client: any AuthClient) async throws -> any AuthClient { throw missing("a restart") }

    public func email(_ name: String, in namespace: ConformanceNamespace) -> String {
        "\(namespace)-\(name)@example.com"
    }

    public func phoneNumber(in namespace: ConformanceNamespace) -> String {
        let digits = namespace.rawValue.unicodeScalars.suffix(8).map { String($0.value % 10) }.joined()
        return "+150" + digits
    }

    public func confirmEmail(_ email: String) async throws {}
    public func confirmFirstEmail(_ email: String) async throws { try await confirmEmail(email) }
    public func confirmationLink(for email: String) async throws -> URL { throw missing("mail that asks to confirm") }
    public func confirmChange(from old: String, to email: String) async throws { try await confirmEmail(email) }
    public func resetCode(for email: String) async throws -> Secret { throw missing("mail about lost passwords") }
    public func signInLink(for email: String) async throws -> URL { throw missing("mail that lets in") }
    public func phoneCode(for phoneNumber: String) async throws -> Secret { throw missing("messages with codes") }
    public func customToken(for userID: String) async throws -> Secret { throw missing("custom tokens") }
    public func identityToken(of provider: IdentityProvider, subject: String, email: String) async throws -> Secret {
        throw missing("identity tokens")
    }
    public func completeBrowserSignIn(_ signIn: BrowserSignIn, email: String) async throws -> URL {
        throw missing("a browser")
    }
    public func secondFactorCode(for sharedKey: Secret) async throws -> Secret { throw missing("an authenticator app") }
    public func expireAccessToken(of client: any AuthClient) async throws { throw missing("a way to age tokens") }
    public func endSessions(of user: AuthUser) async throws { throw missing("a way to end sessions") }
    public func disable(_ user: AuthUser) async throws { throw missing("a way to bar accounts") }
    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}

    private func missing(_ what: String) -> ConformanceFailure {
        ConformanceFailure(expectation: "the harness has \(what), as its features say", found: "none")
    }
}

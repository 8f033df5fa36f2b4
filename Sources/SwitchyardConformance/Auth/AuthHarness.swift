public import Foundation
public import Switchyard

/// What an author of an auth provider supplies to have it checked.
///
/// Signing up signs in at once, or else ``features`` say that it asks for a confirmation, and the harness opens the mail. Passwords
/// of six characters must be enough.
/// Beyond ``makeAuthClient()``, a hook is needed only where ``features`` declare what it serves; each stands for
/// something that happens outside of the client: a mail that is read, a page that is filled in, an administrator.
public protocol AuthHarness: Sendable {
    var features: AuthFeatures { get }

    /// Another device for each call: a client without a session. It is shut down after the check.
    func makeAuthClient() async throws -> any AuthClient

    /// The same device after a restart of the app: `client` was shut down. For ``AuthFeatures/keepsSessions``.
    func reopen(_ client: any AuthClient) async throws -> any AuthClient

    /// The address of somebody who exists in `namespace` only. The default is at `example.com`.
    func email(_ name: String, in namespace: ConformanceNamespace) -> String
    /// A telephone number in the same way.
    func phoneNumber(in namespace: ConformanceNamespace) -> String

    /// Marks the address as confirmed by its owner, as the link in the mail does; for providers that ask for it before
    /// anything else, or before a second factor.
    func confirmEmail(_ email: String) async throws
    /// The link in the newest mail that asks for the address of a new account to be confirmed.
    func confirmationLink(for email: String) async throws -> URL
    /// Opens the mails by which an account goes over to another address: the default, only the one to `email`.
    func confirmChange(from old: String, to email: String) async throws
    /// The code in the newest mail about a lost password.
    func resetCode(for email: String) async throws -> Secret
    /// The link in the newest mail that lets in.
    func signInLink(for email: String) async throws -> URL
    /// The code in the newest message to the telephone.
    func phoneCode(for phoneNumber: String) async throws -> Secret
    /// A token that the app's own server would sign for this person.
    func customToken(for userID: String) async throws -> Secret
    /// An identity token as `provider` would issue it. The same subject is the same person.
    func identityToken(of provider: IdentityProvider, subject: String, email: String) async throws -> Secret
    /// Does what a person does in the browser, and returns the address to which that comes back.
    func completeBrowserSignIn(_ signIn: BrowserSignIn, email: String) async throws -> URL
    /// The code that an authenticator app would show next; another one at each call.
    func secondFactorCode(for sharedKey: Secret) async throws -> Secret

    /// Lets the client's access token run out.
    func expireAccessToken(of client: any AuthClient) async throws
    /// Ends all sessions of the account on the server.
    func endSessions(of user: AuthUser) async throws
    /// Bars the account on the server.
    func disable(_ user: AuthUser) async throws

    /// After the accounts that clients could delete are deleted: removes what is left. The default does nothing.
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

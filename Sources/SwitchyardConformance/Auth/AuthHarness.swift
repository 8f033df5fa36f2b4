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

/// What an auth client under test and its harness declare; decides which checks apply.
public struct AuthFeatures: Sendable, Hashable {
    /// The same as the clients' own.
    public var capabilities: AuthCapabilities
    /// The identity provider whose tokens the harness can make, if the capability is declared.
    public var identityProvider: IdentityProvider
    /// Whether the harness simulates the outside world: email, phones, browsers, identity providers and authenticator apps.
    /// If not, the checks that need these are skipped.
    public var playsOutside = true
    /// Whether a session outlasts its client, so that ``AuthHarness/reopen(_:)`` finds it.
    public var keepsSessions = false
    /// Whether the harness can expire access tokens.
    public var agesTokens = false
    /// Whether the harness can end sessions on the server.
    public var endsSessions = false
    /// Whether the harness can disable accounts.
    public var disablesAccounts = false

    /// Whether new accounts need a confirmed address. The harness then simulates the mailbox:
    /// ``AuthHarness/confirmationLink(for:)`` and ``AuthHarness/confirmEmail(_:)``.
    public var asksForConfirmation = false
    /// Whether a changed address needs confirmation by email.
    public var confirmsNewAddresses = false

    public init(_ capabilities: AuthCapabilities, identityProvider: IdentityProvider = .google) {
        self.capabilities = capabilities
        self.identityProvider = identityProvider
    }
}

public typealias AuthRequirement = ConformanceRequirement<AuthFeatures>

extension ConformanceRequirement where Features == AuthFeatures {
    private static func outside(_ name: String, isDeclared: @escaping @Sendable (AuthFeatures) -> Bool) -> Self {
        Self(
            name,
            remedy:
                "a provider that supports it, and a harness of your own that reads emails and messages and fills in pages",
            isServed: { $0.playsOutside }, isDeclared: isDeclared)
    }

    static let anonymous = Self("anonymous accounts") { $0.capabilities.anonymous }
    static let customTokens = outside("custom tokens") { $0.capabilities.customTokens }
    static let identityTokens = outside("identity tokens") { $0.capabilities.identityTokens }
    static let browser = outside("sign-in through the browser") { $0.capabilities.browserSignIn }
    static let phoneCodes = outside("phone codes") { $0.capabilities.phoneCodes }
    static let emailLinks = outside("email links") { $0.capabilities.emailLinks }
    static let passwordReset = outside("password resets") { $0.capabilities.passwordReset }
    static let linking = Self("linking") { $0.capabilities.linking }
    static let secondFactors = outside("second factors") { $0.capabilities.secondFactors }
    static let deletion = Self("deletion of accounts") { $0.capabilities.accountDeletion }
    static let elsewhere = Self("signing out elsewhere") { $0.capabilities.signOutElsewhere }
    static let keptSessions = Self("kept sessions", remedy: "a state folder") { $0.keepsSessions }
    static let ageing = Self("tokens that run out", remedy: "a harness of your own, in a test, that ages them") {
        $0.agesTokens
    }
    static let endedSessions = Self(
        "sessions ended by the server", remedy: "a harness of your own, in a test, that ends them"
    ) { $0.endsSessions }
    static let confirmation = outside("confirmed addresses") { $0.asksForConfirmation }
    static let confirmedChanges = outside("confirmed new addresses") { $0.confirmsNewAddresses }
    static let disabling = Self("barred accounts", remedy: "a harness of your own, in a test, that bars them") {
        $0.disablesAccounts
    }
}

/// The behaviour of `AuthClient`, as checks that every provider passes according to its capabilities.
public enum AuthConformance {
    public static let all: [AuthCheck] = [
        passwordChecks, stateChecks, tokenChecks, accountChecks, deviceChecks, anonymousChecks, identityChecks,
        codeChecks, confirmationChecks,
        factorChecks, refusalChecks, careChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: AuthFeatures) -> [AuthCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features.
    public static func leftOut(for features: AuthFeatures) -> [String] { all.leftOut(for: features) }
}

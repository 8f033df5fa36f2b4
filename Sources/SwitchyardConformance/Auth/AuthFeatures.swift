public import Switchyard

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
        Self(name, isServed: { $0.playsOutside }, isDeclared: isDeclared)
    }

    static let anonymous = Self("anonymous accounts") { $0.capabilities.anonymous }
    static let customTokens = outside("custom tokens") { $0.capabilities.customTokens }
    static let identityTokens = outside("identity tokens") { $0.capabilities.identityTokens }
    static let browser = outside("sign-in through the browser") { $0.capabilities.browserSignIn }
    static let phoneCodes = outside("phone codes") { $0.capabilities.phoneCodes }
    static let emailLinks = outside("e-mail links") { $0.capabilities.emailLinks }
    static let passwordReset = outside("password resets") { $0.capabilities.passwordReset }
    static let linking = Self("linking") { $0.capabilities.linking }
    static let secondFactors = outside("second factors") { $0.capabilities.secondFactors }
    static let deletion = Self("deletion of accounts") { $0.capabilities.accountDeletion }
    static let elsewhere = Self("signing out elsewhere") { $0.capabilities.signOutElsewhere }
    static let keptSessions = Self("kept sessions") { $0.keepsSessions }
    static let ageing = Self("tokens that run out") { $0.agesTokens }
    static let endedSessions = Self("sessions ended by the server") { $0.endsSessions }
    static let confirmation = outside("confirmed addresses") { $0.asksForConfirmation }
    static let confirmedChanges = outside("confirmed new addresses") { $0.confirmsNewAddresses }
    static let disabling = Self("barred accounts") { $0.disablesAccounts }
}

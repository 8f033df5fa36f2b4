public import Foundation
public import Switchyard

/// What an admin client under test and its harness declare; decides which checks apply.
public struct AdminFeatures: Sendable, Hashable {
    /// The same as the clients' own.
    public var capabilities: AdminCapabilities
    /// The capabilities of the harness's auth clients, which test the admin client's work.
    public var auth: AuthCapabilities
    /// Whether accounts can be created with a given ID; see ``AdminHarness/makeID()``.
    public var takesIDs = true
    /// Whether an account may have neither an address nor a phone number.
    public var makesBareAccounts = true
    /// Whether a confirmed address can be made unconfirmed.
    public var unconfirmsAddresses = true
    /// Whether signing in with a password requires a confirmed address.
    public var asksForConfirmation = false
    /// Whether the server checks the signatures of custom tokens. Test servers may accept any.
    public var checksSignatures = true
    /// Whether the harness opens links: ``AdminHarness/resetCode(in:)`` and ``AdminHarness/openConfirmation(_:for:)``.
    public var playsOutside = true
    /// Whether the harness can read the claims of tokens: ``AdminHarness/claims(of:)``.
    public var readsTokens = false
    /// Whether the harness has a client whose key is not the project's: ``AdminHarness/makeClientWithWrongKey()``.
    public var hasWrongKeys = false
    /// A URL to which links may redirect.
    public var redirectURL = URL(string: "https://app.example.com/callback") ?? URL(fileURLWithPath: "/")

    public init(_ capabilities: AdminCapabilities, auth: AuthCapabilities) {
        self.capabilities = capabilities
        self.auth = auth
    }
}

public typealias AdminRequirement = ConformanceRequirement<AdminFeatures>

extension ConformanceRequirement where Features == AdminFeatures {
    static let ownIDs = Self("IDs of one's own") { $0.takesIDs }
    static let bareAccounts = Self("accounts without an address and a number") { $0.makesBareAccounts }
    static let unconfirming = Self("addresses that stop being confirmed") { $0.unconfirmsAddresses }
    static let endingSessions = Self("ending sessions") { $0.capabilities.endingSessions }
    static let customTokens = Self(
        "custom tokens", isServed: { $0.auth.customTokens }, isDeclared: { $0.capabilities.customTokens })
    static let checkedSignatures = Self("signatures that are checked") { $0.checksSignatures }
    static let passwordResetLinks = Self(
        "links to new passwords", isServed: { $0.playsOutside && $0.auth.passwordReset },
        isDeclared: { $0.capabilities.links.contains(.passwordReset) })
    static let confirmationLinks = Self(
        "links that confirm addresses", isServed: { $0.playsOutside },
        isDeclared: { $0.capabilities.links.contains(.emailConfirmation) })
    static let signInLinks = Self(
        "links that sign in", isServed: { $0.auth.emailLinks },
        isDeclared: { $0.capabilities.links.contains(.signIn) })
    static let anyLinks = Self("links") { !$0.capabilities.links.isEmpty }
    static let imports = Self("imports") { !$0.capabilities.passwordHashes.isEmpty }
    static let limitedImports = Self("an unsupported hash") {
        !$0.capabilities.passwordHashes.isEmpty
            && $0.capabilities.passwordHashes.count < PasswordHash.Kind.allCases.count
    }
    static let bcrypt = Self("hashes of bcrypt") { $0.capabilities.passwordHashes.contains(.bcrypt) }
    static let pbkdf2 = Self("hashes of PBKDF2") { $0.capabilities.passwordHashes.contains(.pbkdf2SHA256) }
    static let anonymous = Self("anonymous accounts") { $0.auth.anonymous }
    static let readTokens = Self("tokens that can be read") { $0.readsTokens }
    static let wrongKeys = Self("a foreign key") { $0.hasWrongKeys }
}

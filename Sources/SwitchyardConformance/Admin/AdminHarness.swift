public import Foundation
public import Switchyard

/// Supplied by the author of an admin client to run the checks.
///
/// Both kinds of clients belong to one project, which may have other accounts, too. Passwords of six characters must be
/// accepted, and ones of three refused. Apart from the two `make` functions, a hook is needed only for the ``features`` that
/// use it.
public protocol AdminHarness: Sendable {
    var features: AdminFeatures { get }

    /// A new client of the project for each call.
    func makeAdminClient() async throws -> any AdminClient
    /// A new device for each call: a client without a session. It is shut down after the check.
    func makeAuthClient() async throws -> any AuthClient

    /// An unused ID: by default a lower-case UUID. For ``AdminFeatures/takesIDs``, and for failing look-ups.
    func makeID() -> String
    /// The email address of a person who exists only in `namespace`. The default is at `example.com`.
    func email(_ name: String, in namespace: ConformanceNamespace) -> String
    /// A phone number of such a person.
    ///
    /// - Parameters:
    ///   - index: The index of the number, from 0 to 9.
    ///   - namespace: The namespace of the check.
    func phoneNumber(_ index: Int, in namespace: ConformanceNamespace) -> String

    /// The account's claims in its token, wherever they are in the token. There may be others.
    func claims(of token: AccessToken) async throws -> [String: DocumentValue]
    /// The code for `AuthClient.resetPassword(code:newPassword:)` in a link of the kind `.passwordReset`.
    func resetCode(in link: URL) async throws -> Secret
    /// Opens a link of the kind `.emailConfirmation`, as a browser would.
    func openConfirmation(_ link: URL, for email: String) async throws
    /// The link that the app receives after the user has tapped a link of the kind `.signIn`. By default, the link itself.
    func signInLink(behind link: URL) async throws -> URL
    /// Waits until the server can order a sign-in and the ending of sessions: a second or two if it counts in seconds. The
    /// default does nothing.
    func letTimePass() async throws
    /// A client with a key that the project rejects. For ``AdminFeatures/hasWrongKeys``.
    func makeClientWithWrongKey() async throws -> any AdminClient

    /// Called after the check's accounts are deleted: removes what is left. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension AdminHarness {
    public func makeID() -> String { UUID().uuidString.lowercased() }

    public func email(_ name: String, in namespace: ConformanceNamespace) -> String {
        "\(namespace)-\(name)@example.com"
    }

    public func phoneNumber(_ index: Int, in namespace: ConformanceNamespace) -> String {
        let digits = namespace.rawValue.unicodeScalars.suffix(8).map { String($0.value % 10) }.joined()
        return "+15\(digits)\(index)"
    }

    public func claims(of token: AccessToken) async throws -> [String: DocumentValue] {
        throw missing("a way to read tokens")
    }
    public func resetCode(in link: URL) async throws -> Secret { throw missing("a way to open links to new passwords") }
    public func openConfirmation(_ link: URL, for email: String) async throws {
        throw missing("a way to open links that confirm")
    }
    public func signInLink(behind link: URL) async throws -> URL { link }
    public func letTimePass() async throws {}
    public func makeClientWithWrongKey() async throws -> any AdminClient { throw missing("a wrong key") }
    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}

    private func missing(_ what: String) -> ConformanceFailure {
        ConformanceFailure(expectation: "the harness has \(what), as its features say", found: "none")
    }
}

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
    static let checkedSignatures = Self(
        "signatures that are checked", remedy: "a server that checks them, which emulators may not"
    ) { $0.checksSignatures }
    static let passwordResetLinks = Self(
        "links to new passwords", remedy: "a harness of your own, in a test, that reads emails",
        isServed: { $0.playsOutside && $0.auth.passwordReset },
        isDeclared: { $0.capabilities.links.contains(.passwordReset) })
    static let confirmationLinks = Self(
        "links that confirm addresses", remedy: "a harness of your own, in a test, that reads emails",
        isServed: { $0.playsOutside },
        isDeclared: { $0.capabilities.links.contains(.emailConfirmation) })
    static let signInLinks = Self(
        "links that sign in", isServed: { $0.auth.emailLinks },
        isDeclared: { $0.capabilities.links.contains(.signIn) })
    static let anyLinks = Self("links") { !$0.capabilities.links.isEmpty }
    static let imports = Self("imports") { !$0.capabilities.passwordHashes.isEmpty }
    static let limitedImports = Self("an unsupported hash", remedy: "a provider that takes some and not all") {
        !$0.capabilities.passwordHashes.isEmpty
            && $0.capabilities.passwordHashes.count < PasswordHash.Kind.allCases.count
    }
    static let bcrypt = Self("hashes of bcrypt") { $0.capabilities.passwordHashes.contains(.bcrypt) }
    static let pbkdf2 = Self("hashes of PBKDF2") { $0.capabilities.passwordHashes.contains(.pbkdf2SHA256) }
    static let anonymous = Self("anonymous accounts") { $0.auth.anonymous }
    static let readTokens = Self("tokens that can be read", remedy: "a harness of your own, in a test, that reads them")
    { $0.readsTokens }
    static let wrongKeys = Self("a foreign key", remedy: "a harness of your own, in a test, that has one") {
        $0.hasWrongKeys
    }
}

/// The behaviour of `AdminClient`, as checks that every provider passes according to its capabilities.
public enum AdminConformance {
    public static let all: [AdminCheck] = [
        findingChecks, creationChecks, claimChecks, editChecks, barringChecks, deletionChecks, pageChecks,
        sessionChecks,
        tokenChecks, linkChecks, importChecks, manyChecks, cancellationChecks, refusalChecks, careChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: AdminFeatures) -> [AdminCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features.
    public static func leftOut(for features: AdminFeatures) -> [String] { all.leftOut(for: features) }
}

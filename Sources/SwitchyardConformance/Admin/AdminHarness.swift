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

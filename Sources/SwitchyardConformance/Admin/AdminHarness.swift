public import Foundation
public import Switchyard

/// What an author of an admin client supplies to have it checked.
///
/// Both kinds of clients belong to one project, where others may have accounts too. Passwords of six characters must be enough,
/// and ones of three too short. Beyond the two makers, a hook is needed only where ``features`` declare what it serves.
public protocol AdminHarness: Sendable {
    var features: AdminFeatures { get }

    /// Another client of the project for each call.
    func makeAdminClient() async throws -> any AdminClient
    /// Another device for each call: a client without a session. It is shut down after the check.
    func makeAuthClient() async throws -> any AuthClient

    /// An ID that nobody has: by default a UUID in small letters. For ``AdminFeatures/takesIDs``, and for looking in vain.
    func makeID() -> String
    /// The address of somebody who exists in `namespace` only. The default is at `example.com`.
    func email(_ name: String, in namespace: ConformanceNamespace) -> String
    /// A telephone number in the same way.
    ///
    /// - Parameters:
    ///   - index: Which of them, from 0 to 9.
    ///   - namespace: Whose it is.
    func phoneNumber(_ index: Int, in namespace: ConformanceNamespace) -> String

    /// The account's claims as its token has them, wherever in the token that is. There may be others beside.
    func claims(of token: AccessToken) async throws -> [String: DocumentValue]
    /// What `AuthClient.resetPassword(code:newPassword:)` takes, out of a link of the kind `.passwordReset`.
    func resetCode(in link: URL) async throws -> Secret
    /// Does what a browser does with a link of the kind `.emailConfirmation`.
    func openConfirmation(_ link: URL, for email: String) async throws
    /// What the app is given to sign in with once a link of the kind `.signIn` was tapped on. By default the link itself.
    func signInLink(behind link: URL) async throws -> URL
    /// Lets pass what the server needs to tell the order of a sign-in and the ending of sessions: a second or two where it
    /// counts in seconds. The default does nothing.
    func letTimePass() async throws
    /// A client whose key the project does not take. For ``AdminFeatures/hasWrongKeys``.
    func makeClientWithWrongKey() async throws -> any AdminClient

    /// After the accounts that the check made are deleted: removes what is left. The default does nothing.
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

public import Foundation
public import Switchyard
package import SwitchyardServerKit

/// How a local Firebase starts. Nothing needs to be set.
public struct LocalFirebaseOptions: Sendable {
    /// The project whose accounts and tokens it knows; the name goes into every token.
    public var project = "demo-switchyard"
    /// 0 picks a free one.
    public var port: UInt16 = 0
    /// Whether everybody may read and write everything. Otherwise documents and files belong to somebody, as
    /// <doc:LocalFirebaseRules> says.
    public var allowsEverything = false
    /// Whether documents of users, contacts, check-ins and notifications are guarded as the rules for these clients say, which
    /// are to be published for a project that uses them. What is elsewhere is as without.
    public var hasDomainRules = false
    /// Whether ID tokens are signed, with a key whose public half the server publishes, as in production. Otherwise they
    /// have no signature, as those of the vendor's emulator, and anybody on this machine can write one: the vendor's
    /// programs insist on that.
    public var signsTokens = false
    /// What signs tokens instead of a new key, whose making takes seconds in a debug build.
    package var tokenKey: RSAPrivateKey?
    /// Custom claims that every new account gets, such as `["role": "authenticated"]` for tokens that a Supabase is to
    /// take.
    public var claims: [String: String] = [:]
    /// Where accounts, documents and files are kept, so that they outlive the process; in memory only when `nil`.
    /// One local Firebase to a folder.
    public var folder: URL?
    /// The time by which tokens and codes run out, and that documents get.
    public var now: @Sendable () -> Timestamp = { Timestamp(Date()) }

    public init() {}
}

/// Why a local Firebase cannot start.
public struct LocalFirebaseError: Error, Sendable, CustomStringConvertible {
    public let message: String

    package init(_ message: String) { self.message = message }

    public var description: String { message }
}

extension LocalFirebaseError: ServerStartError {}

/// The folder of a local Firebase.
package typealias LocalFolder = ServerFolder<LocalFirebaseError>

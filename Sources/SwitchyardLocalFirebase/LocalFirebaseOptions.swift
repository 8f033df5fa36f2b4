public import Foundation
public import Switchyard
package import SwitchyardServerKit

/// The options of a local Firebase. All are optional.
public struct LocalFirebaseOptions: Sendable {
    /// The project that it serves; the name goes into every token.
    public var project = "demo-switchyard"
    /// 0 picks a free one; with a ``folder``, the one of the last time if it is still free.
    public var port: UInt16 = 0
    /// Whether everyone may read and write everything. Otherwise the access rules in <doc:LocalFirebaseRules> apply.
    public var allowsEverything = false
    /// Whether documents of users, contacts, check-ins and notifications are protected by the rules for these clients, which
    /// a project that uses them has to publish. Other documents are not affected.
    public var hasDomainRules = false
    /// Whether ID tokens are signed, with a key whose public half the server publishes, as in production. Otherwise they have
    /// no signature, like those of the vendor's emulator, because the vendor's programs require that; then anyone on this
    /// machine can write one.
    public var signsTokens = false
    /// The signing key to use instead of a new one, which takes seconds to make in a debug build.
    package var tokenKey: RSAPrivateKey?
    /// Custom claims that every new account gets, such as `["role": "authenticated"]` for tokens that a Supabase should
    /// accept.
    public var claims: [String: String] = [:]
    /// Origins of web pages elsewhere that may use it, such as `https://app.example.com`; pages on this machine always may.
    public var origins: Set<String> = []
    /// The folder for accounts, documents and files, so that they outlive the process; `nil` keeps them in memory. Use one
    /// folder per local Firebase.
    public var folder: URL?
    /// The clock for the expiry of tokens and codes, and for document times.
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

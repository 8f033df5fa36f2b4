public import Foundation
public import Switchyard
package import SwitchyardServerKit

/// The options of a local Supabase. All are optional.
public struct LocalSupabaseOptions: Sendable {
    /// The PostgreSQL to use.
    public enum Database: Hashable, Sendable {
        /// Its own, which stops with it.
        case own
        /// An existing one on this machine that accepts `user`, who owns everything there, and `authenticator`, both without a
        /// password. Everything a project needs is added to it. The database of a real project is refused.
        case given(port: UInt16, user: String = "postgres", name: String = "postgres")
    }

    /// 0 picks a free one; with a ``folder``, the one of the last time if it is still free.
    public var port: UInt16 = 0
    /// The folder for the database, files and the project's secret and keys, so that they outlive the process; `nil` keeps them
    /// only as long as the process. Use one folder per local Supabase.
    public var folder: URL?
    public var database = Database.own
    /// SQL that runs at each start after everything else is set up, such as an app's own functions. It must be safe to run
    /// repeatedly.
    public var scripts: [String] = []
    /// Private buckets created at the start, each with policies that let signed-in users read, add, change and remove their
    /// own files. Create other buckets and policies yourself, as with the vendor: only the service key has access to a bucket
    /// without policies.
    public var buckets: [String] = []
    /// Whether everyone may do everything with all files, whatever the policies.
    public var allowsEverything = false
    /// The Firebase project whose users are accepted like this project's own.
    public var firebase: FirebaseProject?
    /// The clock for the expiry of tokens and codes.
    public var now: @Sendable () -> Timestamp = { Timestamp(Date()) }
    /// The maximum number of rows in an answer of the data service; more are silently cut off, as with the vendor.
    public var maximumRows = 1000
    /// The schemas that the data service exposes; the first is the default.
    public var schemas = ["public"]
    /// Whether the data service computes sums and other values over rows. Hosted projects do not allow it until their owner does.
    public var allowsAggregates = false
    /// Whether the services are behind a gateway, like those of hosted projects, which demands a key of the project with every
    /// request. Without it they answer as they do alone: the data service takes callers without a token as `anon`, the file
    /// service refuses them, and both answer browsers' preflights themselves.
    public var hasGateway = true
    /// Origins of web pages elsewhere that may use it, such as `https://app.example.com`; pages on this machine always may.
    public var origins: Set<String> = []
    public var auth = Auth()
    /// The edge functions, by name.
    package var functions: [String: LocalFunction] = [:]
    /// The limits of the realtime service.
    package var realtime = RealtimeLimits()

    /// How accounts work.
    public struct Auth: Hashable, Sendable {
        /// The lifetime of an access token, in seconds.
        public var tokenLifetime: Int64 = 3600
        /// For how many seconds after a refresh the old refresh token is still accepted.
        public var reuseInterval: Int64 = 10
        /// Whether a refresh token can be used only once.
        public var rotatesRefreshTokens = true
        /// Whether new addresses count as confirmed at once. Otherwise each gets a confirmation email.
        public var autoconfirmsEmails = true
        /// The same for phone numbers added to an account.
        public var autoconfirmsPhones = false
        /// Whether new accounts can be created.
        public var allowsSignUp = true
        public var allowsAnonymous = true
        /// Whether users can sign up and in by phone. Hosted projects refuse it until a provider of messages is set up; here none is
        /// needed.
        public var allowsPhones = true
        /// Whether users may add identities to their account, and remove them. Hosted projects do not allow it until their owner
        /// does.
        public var allowsManualLinking = true
        /// Whether access tokens are signed with a key whose public half the server publishes, as in new hosted projects.
        /// Otherwise they are signed with the project's secret, like the project's own keys.
        public var signsWithKey = false
        /// Whether changing an address must be confirmed at both the old and the new one.
        public var confirmsEmailChangeTwice = true
        /// The minimum number of seconds between two emails or messages to the same address; 0 for no limit.
        public var secondsBetweenMails: Int64 = 0
        public var minimumPasswordLength = 6
        /// Whether changing a password requires a session from the last day, or a code sent by email.
        public var protectsPasswords = false
        /// The default target of links in emails: the app's own address.
        public var site = "http://127.0.0.1:3000"
        /// The identity providers that users can sign in with.
        public var providers: Set<String> = ["apple", "azure", "facebook", "github", "google", "twitter"]
        /// Numbers that always get the same code, for tests: digits without the plus sign.
        public var phoneCodes: [String: String] = [:]

        public init() {}
    }

    public init() {}
}

/// Why a local Supabase cannot start.
public struct LocalSupabaseError: Error, Sendable, CustomStringConvertible {
    public let message: String

    package init(_ message: String) { self.message = message }

    public var description: String { message }
}

extension LocalSupabaseError: ServerStartError {}

/// One of the services of a ``LocalSupabase``.
package protocol LocalSupabaseService: Sendable {
    /// SQL that creates or updates its tables and functions. It runs at every start with all rights, after the roles and
    /// schemas exist and before requests are accepted.
    var schema: String { get }

    /// Adds its routes. If two routes match a request, the one added first wins.
    func addRoutes(to router: inout Router)

    /// Starts its tasks. When this is called, the database is ready, and requests come only afterwards.
    func start() async throws(PostgresFailure)

    /// Stops its tasks. When this is called, the server no longer accepts requests, but the database is still running.
    func stop() async
}

extension LocalSupabaseService {
    package var schema: String { "" }
    package func start() async throws(PostgresFailure) {}
    package func stop() async {}
}

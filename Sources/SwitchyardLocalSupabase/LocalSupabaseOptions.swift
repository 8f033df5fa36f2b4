public import Foundation
public import Switchyard
import SwitchyardServerKit

/// How a local Supabase starts. Nothing needs to be set.
public struct LocalSupabaseOptions: Sendable {
    /// The PostgreSQL that it works on.
    public enum Database: Hashable, Sendable {
        /// One of its own, which ends with it.
        case own
        /// One that listens on this machine and lets `user`, who owns everything there, and `authenticator` in without a
        /// password. What a project needs is added to it.
        case given(port: UInt16, user: String = "postgres", name: String = "postgres")
    }

    /// 0 picks a free one.
    public var port: UInt16 = 0
    /// Where the database, files and the project's secret are kept, so that they outlive the process; all of it is gone
    /// with the process when `nil`. One local Supabase to a folder.
    public var folder: URL?
    public var database = Database.own
    /// SQL that is run at each start once everything else is there, such as the functions of an app's own. It has to take
    /// that it was run before.
    public var scripts: [String] = []
    /// Private buckets that are made at the start, each with policies that let people who are signed in read, add, change
    /// and remove files of their own. Other buckets and policies are for the project to make, as with the vendor: a bucket
    /// without a policy lets nobody in but the service key.
    public var buckets: [String] = []
    /// Whether everybody may do everything with all files, whatever policies there are.
    public var allowsEverything = false
    /// The Firebase project whose people are taken for this project's own.
    public var firebase: FirebaseProject?
    /// The time by which tokens and codes run out.
    public var now: @Sendable () -> Timestamp = { Timestamp(Date()) }
    /// How many rows an answer of the data service has at most; what exceeds it is cut off without a word, as the vendor
    /// does it.
    public var maximumRows = 1000
    /// The schemas that the data service shows; the first one is asked where a request names none.
    public var schemas = ["public"]
    public var auth = Auth()
    /// The functions at the edge, by their names.
    package var functions: [String: LocalFunction] = [:]
    /// How much the realtime service bears.
    package var realtime = RealtimeLimits()

    /// How accounts work.
    public struct Auth: Hashable, Sendable {
        /// For how many seconds an access token is good.
        public var tokenLifetime: Int64 = 3600
        /// For how many seconds after a refresh an old refresh token is forgiven.
        public var reuseInterval: Int64 = 10
        /// Whether a refresh token is good once only.
        public var rotatesRefreshTokens = true
        /// Whether new addresses count as confirmed at once. Otherwise a mail is written for each.
        public var confirmsEmails = true
        /// The same for telephone numbers that are added to an account.
        public var confirmsPhones = false
        /// Whether new accounts can be made.
        public var allowsSignUp = true
        public var allowsAnonymous = true
        /// Whether an address is changed only when both, the old one and the new one, have agreed.
        public var confirmsEmailChangeTwice = true
        /// For how many seconds after a mail or message none is sent to the same address; 0: never.
        public var secondsBetweenMails: Int64 = 0
        public var minimumPasswordLength = 6
        /// Whether a password is changed only in sessions of the last day, or with a number that was mailed for it.
        public var protectsPasswords = false
        /// Where links in mails lead that were sent without a word on that: the app's own address.
        public var site = "http://127.0.0.1:3000"
        /// The identity providers that can be signed in with.
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

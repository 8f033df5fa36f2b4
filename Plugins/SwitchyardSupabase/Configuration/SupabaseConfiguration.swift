import Foundation
public import Switchyard
import SwitchyardProviderKit

/// The settings of a Supabase project, hosted or your own.
///
/// In a configuration file the names are the same. Write only what differs from the defaults:
///
/// ```json
/// { "url": "https://demo.supabase.co", "key": "${SUPABASE_KEY}", "bucket": "avatars" }
/// ```
public struct SupabaseConfiguration: Sendable, Hashable {
    /// The project's address, without a path: `https://demo.supabase.co`. Plain HTTP is for this very machine, and for the host
    /// of ``allowsPlainHTTPTo``.
    public var url: String
    /// The project's public key, `sb_publishable_…` or the `anon` key. It identifies the project and protects nothing, but is
    /// never printed all the same.
    public var key: Secret
    /// The service-role key. Bypasses row-level security; servers only. Used for calls for which no user is signed in.
    public var serviceKey: Secret?
    /// The legacy JWT secret, which signs the tokens of projects without signing keys. Only servers that check tokens need it.
    public var jwtSecret: Secret?
    /// The bucket for files outside of the folders of ``buckets``. Without any bucket there is no client for files.
    public var bucket: String?
    /// Whether everyone may read the bucket. Its files then have permanent addresses.
    public var isBucketPublic: Bool
    /// More buckets, each of which appears as a folder.
    public var buckets: [SupabaseBucket]
    /// Collections that are stored in tables of your own.
    public var tables: [SupabaseTableMapping]
    /// Whether all other collections are stored in the document table. If not, only those of ``tables`` exist.
    public var usesDocumentTable: Bool
    /// How often to check for changes that nothing announces.
    public var checkInterval: Duration
    /// How to reach the project's realtime service, or whether to do without it.
    public var realtime: SupabaseRealtime
    /// Whether documents and queued writes are stored in the state folder, if there is one. Otherwise they are lost with the
    /// client.
    public var keepsDocuments: Bool
    /// The approximate size of the cache, in bytes. Above it, the least recently used documents are dropped.
    public var cacheBytes: Int64
    /// How long file calls are retried while the server cannot be reached, and how long a transfer goes on without moving a
    /// byte. Half a minute and ten minutes by default. `patienceSeconds` in a file.
    public var patience: Duration?
    /// A host in a private network to which keys and tokens may be sent in plain HTTP, such as `192.168.1.20`, so that a phone
    /// can reach your machine. Public addresses are refused. Do not ship it.
    public var allowsPlainHTTPTo: String?

    public init(
        url: String, key: Secret, serviceKey: Secret? = nil, jwtSecret: Secret? = nil, bucket: String? = nil,
        isBucketPublic: Bool = false,
        buckets: [SupabaseBucket] = [], tables: [SupabaseTableMapping] = [], usesDocumentTable: Bool = true,
        checkInterval: Duration = .seconds(1),
        realtime: SupabaseRealtime = SupabaseRealtime(), keepsDocuments: Bool = true, cacheBytes: Int64 = 100 << 20,
        patience: Duration? = nil, allowsPlainHTTPTo: String? = nil
    ) {
        self.url = url
        self.key = key
        self.serviceKey = serviceKey
        self.jwtSecret = jwtSecret
        self.bucket = bucket
        self.isBucketPublic = isBucketPublic
        self.buckets = buckets
        self.tables = tables
        self.usesDocumentTable = usesDocumentTable
        self.checkInterval = checkInterval
        self.realtime = realtime
        self.keepsDocuments = keepsDocuments
        self.cacheBytes = cacheBytes
        self.patience = patience
        self.allowsPlainHTTPTo = allowsPlainHTTPTo
    }
}

extension SupabaseConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, key, serviceKey, jwtSecret, bucket, isBucketPublic, buckets, tables, usesDocumentTable, checkSeconds,
            realtime, keepsDocuments, cacheBytes, patienceSeconds, allowsPlainHTTPTo
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            url: try values.decode(String.self, forKey: .url), key: try values.decode(Secret.self, forKey: .key))
        serviceKey = try values.decodeIfPresent(Secret.self, forKey: .serviceKey)
        jwtSecret = try values.decodeIfPresent(Secret.self, forKey: .jwtSecret)
        bucket = try values.decodeIfPresent(String.self, forKey: .bucket)
        isBucketPublic = try values.decodeIfPresent(Bool.self, forKey: .isBucketPublic) ?? isBucketPublic
        buckets = try values.decodeIfPresent([SupabaseBucket].self, forKey: .buckets) ?? buckets
        tables = try values.decodeIfPresent([SupabaseTableMapping].self, forKey: .tables) ?? tables
        usesDocumentTable =
            try values.decodeIfPresent(Bool.self, forKey: .usesDocumentTable) ?? usesDocumentTable
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .checkSeconds) {
            checkInterval = try .settings(seconds: seconds, in: 0.01...86_400, forKey: .checkSeconds, of: values)
        }
        realtime = try values.decodeIfPresent(SupabaseRealtime.self, forKey: .realtime) ?? realtime
        keepsDocuments = try values.decodeIfPresent(Bool.self, forKey: .keepsDocuments) ?? keepsDocuments
        cacheBytes = try values.decodeIfPresent(Int64.self, forKey: .cacheBytes) ?? cacheBytes
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .patienceSeconds) {
            patience = try .settings(seconds: seconds, in: 0...86_400, forKey: .patienceSeconds, of: values)
        }
        allowsPlainHTTPTo = try values.decodeIfPresent(String.self, forKey: .allowsPlainHTTPTo)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(url, forKey: .url)
        try values.encode(key, forKey: .key)
        try values.encodeIfPresent(serviceKey, forKey: .serviceKey)
        try values.encodeIfPresent(jwtSecret, forKey: .jwtSecret)
        try values.encodeIfPresent(bucket, forKey: .bucket)
        try values.encode(isBucketPublic, forKey: .isBucketPublic)
        if !buckets.isEmpty { try values.encode(buckets, forKey: .buckets) }
        if !tables.isEmpty { try values.encode(tables, forKey: .tables) }
        try values.encode(usesDocumentTable, forKey: .usesDocumentTable)
        try values.encode(checkInterval / .milliseconds(1) / 1000, forKey: .checkSeconds)
        if realtime != SupabaseRealtime() { try values.encode(realtime, forKey: .realtime) }
        try values.encode(keepsDocuments, forKey: .keepsDocuments)
        try values.encode(cacheBytes, forKey: .cacheBytes)
        try values.encodeIfPresent(patience.map { $0 / .milliseconds(1) / 1000 }, forKey: .patienceSeconds)
        try values.encodeIfPresent(allowsPlainHTTPTo, forKey: .allowsPlainHTTPTo)
    }
}

/// A bucket shown as a folder: `"avatars/alice.png"` is the object `alice.png` of the bucket for `avatars`.
///
/// ```swift
/// configuration.bucket = "files"
/// configuration.buckets = [
///     SupabaseBucket("avatars", isPublic: true), SupabaseBucket("receipts-2026", folder: "users/receipts"),
/// ]
/// ```
///
/// All paths outside these folders are in ``SupabaseConfiguration/bucket``. Objects that this bucket has below such a folder
/// are hidden.
public struct SupabaseBucket: Sendable, Hashable, Codable {
    public var name: String
    /// One or several segments; of nested folders, the longest match is used.
    public var folder: String
    /// Whether everyone may read it. Its files then have permanent addresses.
    public var isPublic: Bool

    /// - Parameters:
    ///   - name: The bucket's name in the project.
    ///   - folder: The folder that shows it; the bucket's name if `nil`.
    ///   - isPublic: Whether everyone may read it.
    public init(_ name: String, folder: String? = nil, isPublic: Bool = false) {
        self.name = name
        self.folder = folder ?? name
        self.isPublic = isPublic
    }

    private enum CodingKeys: CodingKey {
        case name, folder, isPublic
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try values.decode(String.self, forKey: .name),
            folder: try values.decodeIfPresent(String.self, forKey: .folder),
            isPublic: try values.decodeIfPresent(Bool.self, forKey: .isPublic) ?? false)
    }
}

/// The legacy secret of a project, with which it signs its tokens.
enum LegacySecret {
    /// As many bytes as the code's hash has. The data service refuses to start with less, so every project's has them.
    static let minimum = 32

    /// Why a secret proves nothing: everybody could sign with an empty one, or with a key that apps contain.
    static func problem(of secret: Secret) -> String? {
        let text = secret.reveal()
        if text.utf8.allSatisfy({ $0 <= 0x20 }) { return "is empty" }
        if SupabaseModule.isSecret(text) || SupabaseModule.isPublic(text) {
            return "is a key of the project, not the secret that signs its tokens"
        }
        if text.utf8.count < minimum {
            return "has \(text.utf8.count) bytes, and every project's has at least \(minimum)"
        }
        return nil
    }
}

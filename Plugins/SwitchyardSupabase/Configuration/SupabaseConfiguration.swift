public import Switchyard

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
    /// The service-role key. Bypasses row-level security; servers only. Used for calls for which nobody is signed in.
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
    /// How often to look for changes that nothing announces.
    public var checkInterval: Duration
    /// How to reach the project's realtime service, or whether to do without it.
    public var realtime: SupabaseRealtime
    /// Whether documents and queued writes are kept in the state folder, if there is one. Otherwise they are lost with the
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

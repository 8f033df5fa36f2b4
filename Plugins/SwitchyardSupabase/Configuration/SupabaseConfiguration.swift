public import Switchyard

/// What it takes to reach a Supabase project, hosted or one's own.
///
/// In a configuration file the names are the same; only what differs from the defaults need be there:
///
/// ```json
/// { "url": "https://demo.supabase.co", "key": "${SUPABASE_KEY}", "bucket": "avatars" }
/// ```
public struct SupabaseConfiguration: Sendable, Hashable {
    /// The project's address, without a path: `https://demo.supabase.co`. Plain HTTP is for this very machine, and for the host
    /// of ``allowsPlainHTTPTo``.
    public var url: String
    /// The project's public key, `sb_publishable_…` or the `anon` key. It names the project and protects nothing; still it
    /// is printed nowhere.
    public var key: Secret
    /// The service-role key. Bypasses row-level security; servers only. Calls for which nobody is signed in are made with it.
    public var serviceKey: Secret?
    /// What signs the tokens of a project that has no keys of its own yet: its legacy JWT secret. For servers that check
    /// tokens, and for nothing else.
    public var jwtSecret: Secret?
    /// The bucket for files, but for those in the folders of ``buckets``. Without any there is no client for files.
    public var bucket: String?
    /// Whether anybody may read the bucket: then its files have addresses without an end.
    public var isBucketPublic: Bool
    /// More buckets, each of which is seen as a folder.
    public var buckets: [SupabaseBucket]
    /// Collections that are tables of the project's own.
    public var tables: [SupabaseTableMapping]
    /// Whether all other collections are in the document table; without it there are none but those of ``tables``.
    public var usesDocumentTable: Bool
    /// How often changes are looked for where nothing tells of them.
    public var checkInterval: Duration
    /// How the project's realtime service is reached, if it is.
    public var realtime: SupabaseRealtime
    /// Whether documents and queued writes are kept in the state folder, if the app has chosen one. Otherwise they are gone
    /// with the client.
    public var keepsDocuments: Bool
    /// Above about this size, the documents that were not used for longest are dropped from the cache.
    public var cacheBytes: Int64
    /// How long a call about files is tried again while the server cannot be reached, and how long a transfer goes on without
    /// moving a byte. Half a minute and ten minutes when left out. `patienceSeconds` in a file.
    public var patience: Duration?
    /// A machine of a private network to which keys and tokens may travel in plain HTTP, such as `192.168.1.20`: a phone talks
    /// to the developer's own machine that way. Never for a public address, and not for what you ship.
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

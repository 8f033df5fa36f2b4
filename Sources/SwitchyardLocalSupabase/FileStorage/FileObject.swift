import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// An object's row.
struct FileObject: Sendable {
    let id: String
    let place: FileObjectName
    /// The name of the file that holds the contents.
    let version: String
    /// The service's own metadata.
    let system: JSONObject
    /// The app's own metadata.
    let notes: JSON
    let createdAt: String
    let updatedAt: String

    /// From a row with `columns`.
    init?(_ row: String?) {
        guard let row, let json = try? JSON(parsing: row), let id = json["id"]?.string,
            let version = json["version"]?.string, let bucket = json["bucket_id"]?.string,
            let name = json["name"]?.string, let place = try? FileObjectName(bucket: bucket, name: name)
        else { return nil }
        self.id = id
        self.place = place
        self.version = version
        system = json["metadata"]?.object ?? [:]
        notes = json["user_metadata"] ?? .null
        createdAt = json["created_at"]?.string ?? ""
        updatedAt = json["updated_at"]?.string ?? ""
    }

    static let columns = """
        json_build_object('id', id, 'bucket_id', bucket_id, 'name', name, 'version', version, 'metadata', metadata,
          'user_metadata', user_metadata, 'created_at', \(time("created_at")), 'updated_at', \(time("updated_at")))
        """

    /// A column in the service's time format.
    static func time(_ column: String) -> String {
        #"to_char(\#(column) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#
    }

    var size: Int64 { system["size"]?.int64 ?? 0 }
    var contentType: String { system["mimetype"]?.string ?? "application/octet-stream" }
    var cacheControl: String { system["cacheControl"]?.string ?? "no-cache" }
    /// The ETag with its quotes.
    var etag: String { system["eTag"]?.string ?? "\"\"" }
    var lastModified: String { system["lastModified"]?.string ?? updatedAt }

    /// The metadata in responses.
    var info: JSON {
        [
            "id": .string(id), "name": .string(place.name), "version": .string(version),
            "bucket_id": .string(place.bucket), "size": .integer(size), "content_type": .string(contentType),
            "cache_control": .string(cacheControl), "etag": .string(etag),
            "metadata": notes.isNull ? [:] : notes,
            "last_modified": .string(lastModified), "created_at": .string(createdAt),
        ]
    }
}

/// An object to be written.
struct NewObject: Sendable {
    var place: FileObjectName
    var contentType = "application/octet-stream"
    /// Returned later exactly as given.
    var cacheControl = "no-cache"
    var notes: JSON = .null
    var replaces = false
    /// The subject of the token used to write it.
    var owner: String?

    /// The service's metadata.
    func system(_ sums: ServerContents.Sums, at moment: String) -> JSON {
        [
            "eTag": .string("\"\(Hex.encode(sums.md5))\""), "size": .integer(sums.size),
            "mimetype": .string(contentType), "cacheControl": .string(cacheControl), "lastModified": .string(moment),
            "contentLength": .integer(sums.size), "httpStatusCode": 200,
        ]
    }
}

/// A bucket and the restrictions on its contents.
struct FileBucket: Sendable {
    let id: String
    let isPublic: Bool
    let sizeLimit: Int64?
    let types: [String]?

    init?(_ row: String?) {
        guard let row, let json = try? JSON(parsing: row), let id = json["id"]?.string else { return nil }
        self.id = id
        isPublic = json["public"]?.bool ?? false
        sizeLimit = json["file_size_limit"]?.int64
        types = json["allowed_mime_types"]?.array?.compactMap(\.string)
    }

    static let columns = """
        json_build_object('id', id, 'name', name, 'owner', coalesce(owner_id, owner::text, ''), 'public', public,
          'file_size_limit', file_size_limit, 'allowed_mime_types', allowed_mime_types,
          'created_at', \(FileObject.time("created_at")), 'updated_at', \(FileObject.time("updated_at")))
        """

    /// The format in lists, with its type.
    static let listed = "(\(columns)::jsonb || jsonb_build_object('type', type))"

    /// The maximum size of one request, except for resumable uploads.
    static let standardLimit: Int64 = 5 << 30

    /// - Throws: `EntityTooLarge`.
    func check(size: Int64, isResumable: Bool = false) throws(LocalSupabaseFileError) {
        let limit = sizeLimit ?? (isResumable ? .max : Self.standardLimit)
        guard size <= limit else { throw .tooLarge }
    }

    /// Checks that the type is exactly one of the allowed types, including parameters, or matches a wildcard.
    ///
    /// - Throws: `InvalidMimeType`.
    func check(type: String) throws(LocalSupabaseFileError) {
        guard let types, !types.isEmpty else { return }
        let fits = types.contains { allowed in
            allowed == type || allowed == "*/*" || (allowed.hasSuffix("/*") && type.hasPrefix(allowed.dropLast()))
        }
        guard fits else { throw .invalidType(type) }
    }

    /// Whether a bucket may be restricted to this type: `image/png`, `image/*`, also with a character set.
    static func isType(_ text: String) -> Bool {
        if text.hasSuffix("*") { return true }
        let parts = text.split(separator: ";", maxSplits: 1)
        guard let type = parts.first, MediaTypeName.isOne(type) else { return false }
        guard parts.count > 1 else { return true }
        let parameter = parts[1].drop { $0 == " " }
        return parameter.hasPrefix("charset=") && parameter.utf8.count > "charset=".utf8.count
    }
}

/// Names such as `text/plain`.
enum MediaTypeName {
    static func isOne(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { letters.contains($0) } }
    }

    private static let letters = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~".utf8)
}

/// The location of an object: a bucket and a name.
struct FileObjectName: Hashable, Sendable {
    let bucket: String
    let name: String

    /// - Throws: `InvalidKey` for a name that the service does not accept.
    init(bucket: String, name: String) throws(LocalSupabaseFileError) {
        guard Self.isBucket(bucket) else {
            throw .invalidBucketName
        }
        guard !name.isEmpty, !name.hasPrefix("/"), name.utf8.count <= 1024, name.utf8.allSatisfy(Self.allowed.contains)
        else { throw .invalidKey(name) }
        self.bucket = bucket
        self.name = name
    }

    /// From the path after a route. Empty segments are part of the name, except for those before it.
    init(_ request: ServerRequest, behind route: String) throws(LocalSupabaseFileError) {
        let prefix = "/storage/v1/\(route)/"
        guard request.rawPath.hasPrefix(prefix) else { throw .invalidRequest("The path is not encoded as expected") }
        let rest = request.rawPath.dropFirst(prefix.count)
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bucket = PercentCoding.decode(parts[0]),
            let name = PercentCoding.decode(parts[1].drop { $0 == "/" })
        else { throw .invalidKey(String(rest)) }
        try self.init(bucket: bucket, name: name)
    }

    /// The name prefixed with its bucket, as in answers and signatures.
    var key: String { "\(bucket)/\(name)" }

    static func isBucket(_ id: String) -> Bool {
        (1...100).contains(id.utf8.count) && !id.utf8.contains(UInt8(ascii: "/"))
            && id.utf8.allSatisfy(allowed.contains)
    }

    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/!-.*'() &$@=;:+,?".utf8)
}

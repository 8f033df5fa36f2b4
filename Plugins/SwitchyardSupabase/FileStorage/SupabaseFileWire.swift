import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// The various formats in which Supabase's storage describes files.
extension FileMetadata {
    /// From an answer of `/object/info`, with the name in the bucket. Here `metadata` is the user's metadata.
    init(info bytes: [UInt8], at path: FilePath) throws(FileStorageError) {
        guard let json = try? JSON(parsing: bytes), json["name"]?.string != nil, let size = json["size"]?.int64 else {
            throw .unreadable
        }
        self.init(
            path: path, size: size, contentType: json["content_type"]?.string ?? "application/octet-stream",
            createdAt: Timestamp(supabase: json["created_at"]), updatedAt: Timestamp(supabase: json["last_modified"]),
            version: json["etag"]?.string.map(Self.bare), cacheControl: json["cache_control"]?.string,
            custom: Self.notes(json["metadata"]))
    }

    /// From a row of a list. Here `metadata` is the server's own, and the name is relative.
    init?(row: JSON, in folder: String) {
        guard let name = row["name"]?.string, row["id"]?.string != nil,
            let path = try? FilePath(validating: folder + name), let system = row["metadata"],
            let size = system["size"]?.int64
        else { return nil }
        self.init(
            path: path, size: size, contentType: system["mimetype"]?.string ?? "application/octet-stream",
            createdAt: Timestamp(supabase: row["created_at"]), updatedAt: Timestamp(supabase: row["updated_at"]),
            version: system["eTag"]?.string.map(Self.bare), cacheControl: system["cacheControl"]?.string,
            custom: Self.notes(row["user_metadata"]))
    }

    /// Without the quotes that entity tags have in headers.
    static func bare(_ tag: String) -> String { tag.filter { $0 != "\"" } }

    private static func notes(_ json: JSON?) -> [String: String] {
        var notes: [String: String] = [:]
        for member in json?.object ?? JSONObject() { notes[member.key] = member.value.string }
        return notes
    }
}

extension Timestamp {
    fileprivate init?(supabase json: JSON?) {
        guard let moment = json?.string.flatMap({ RFC3339.parse($0) }) else { return nil }
        self.init(clampingSeconds: moment.seconds, nanoseconds: moment.nanoseconds)
    }
}

extension UploadOptions {
    /// The custom metadata as the server expects it in a header beside the body.
    var supabaseNotes: String? { custom.isEmpty ? nil : Base64.encode(Self.supabaseJSON(custom).bytes()) }

    static func supabaseJSON(_ notes: [String: String]) -> JSON {
        .object(JSONObject(notes.sorted { $0.key < $1.key }.map { (key: $0.key, value: .string($0.value)) }))
    }
}

extension FilePath {
    /// The characters allowed in names. The server refuses all others, such as the letters of most alphabets.
    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/!-.*'() &$@=;:+,?".utf8)

    static func allowedBySupabase(_ byte: UInt8) -> Bool { allowed.contains(byte) }

    /// - Throws: `.invalidArgument` for a name that the server would refuse.
    func checkForSupabase() throws(FileStorageError) {
        guard rawValue.utf8.allSatisfy(Self.allowedBySupabase) else {
            throw FileStorageError(
                .invalidArgument,
                "Supabase takes only ASCII letters, digits, spaces and _ / ! - . * ' ( ) & $ @ = ; : + , ? in names.")
        }
    }
}

extension DownloadHead {
    init(supabase head: HTTPResponseHead) throws(FileStorageError) {
        let version = head.headers["ETag"].map(FileMetadata.bare)
        guard head.status == 206 else {
            self.init(
                start: 0, total: head.headers["Content-Length"].flatMap { Int64($0) }, version: version)
            return
        }
        let parts = (head.headers["Content-Range"] ?? "").split { $0 == " " || $0 == "-" || $0 == "/" }
        guard parts.count == 4, parts[0] == "bytes", let start = Int64(parts[1]) else { throw .unreadable }
        self.init(start: start, total: Int64(parts[3]), version: version)
    }
}

/// An error answer of Supabase's storage.
///
/// Nearly every failure has HTTP status 400, with the actual status in the body. Resumable uploads, gateways and some versions
/// use the actual status.
struct SupabaseFileFailure: Error, CustomStringConvertible {
    /// The actual status, from the body or the answer.
    let status: Int
    /// The server's code for the failure; older servers have only text.
    let code: String
    let text: String
    /// Whether it is a web page, which the service never sends: it comes from a proxy.
    let isPage: Bool

    var description: String { "\(status) \(code): \(text)" }

    init(_ response: HTTPResponse) {
        let json = try? JSON(parsing: response.body)
        isPage = response.body.isWebPage
        let stated = json?["statusCode"].flatMap { $0.int ?? $0.string.flatMap { Int($0) } }
        status = stated ?? response.status
        code = json?["code"]?.string ?? json?["error"]?.string ?? ""
        text = String((json?["message"]?.string ?? String(decoding: response.body, as: UTF8.self)).prefix(300))
    }

    /// Whether the bucket is missing, and not only a file in it. Resumable uploads report this as plain text.
    var isAboutBucket: Bool {
        ["NoSuchBucket", "Bucket not found"].contains(code) || text.hasPrefix("Bucket not found")
    }

    /// Whether the gateway before the service refuses the project's key, independent of the user.
    var isAboutKey: Bool { status == 401 && text.includes("API key") }

    /// Whether the session's token was refused, which looks like a permission error.
    var isAboutToken: Bool {
        if ["InvalidJWT", "ExpiredToken"].contains(code) || status == 401 { return true }
        guard status == 403 || status == 400 else { return false }
        return ["exp", "jwt", "jws"].contains { word in
            text.lowercased().split { !$0.isLetter }.contains { $0 == word }
        }
    }
}

/// Maps the failures of Supabase's storage to the portable codes.
extension FileStorageError {
    init(supabase response: HTTPResponse, isSession: Bool = false, in buckets: SupabaseBuckets, now: Timestamp) {
        let failure = SupabaseFileFailure(response)
        let (code, message) =
            Self.byName(failure, buckets) ?? (isSession ? Self.bySession(failure) : nil) ?? Self.byStatus(failure)
        let wait = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) }
        let isAborted = ["ResourceReferenced", "TransactionError"].contains(failure.code)
        self.init(code, message, isRetryable: isAborted ? true : nil, retryAfter: wait, underlying: failure)
    }

    /// Without a user, the key is the only token that the service gets.
    static let refusedKey =
        "The project does not accept the key. Copy the publishable key of this very project: Project Settings, API Keys."
    private static let missingPolicy =
        "The bucket's policies do not allow it. A new bucket has no policies, so it allows no access: add policies to "
        + "storage.objects. A local Supabase that is started with --bucket NAME has the usual ones."
    private static func missing(_ buckets: SupabaseBuckets) -> String {
        "\(buckets.subject) does not exist, or the policies hide it. Create it in the dashboard under Storage, or start a local "
            + "Supabase with --bucket NAME, or correct the name in the configuration."
    }

    private static func byName(_ failure: SupabaseFileFailure, _ buckets: SupabaseBuckets) -> (Code, String)? {
        switch failure.code {
        case "NoSuchKey", "not_found": (.notFound, "The file does not exist, or the rules hide it.")
        case _ where failure.isAboutBucket: (.notFound, Self.missing(buckets))
        case "NoSuchUpload", "InvalidUploadId":
            (.uploadExpired, "The server no longer knows the upload. Start it again.")
        case "InvalidSignature", "SignatureDoesNotMatch", "InvalidUploadSignature":
            (.unauthorized, "The URL's token does not allow this.")
        case "KeyAlreadyExists", "ResourceAlreadyExists", "BucketAlreadyExists", "Duplicate":
            (.alreadyExists, "A file already exists at this path.")
        case "EntityTooLarge", "Payload too large": (.tooLarge, "The file is larger than the bucket allows.")
        case "InvalidMimeType", "invalid_mime_type":
            (.invalidArgument, "The bucket does not accept this content type.")
        case "InvalidKey", "InvalidBucketName", "InvalidRequest", "InvalidParameter", "MissingParameter",
            "MissingContentLength", "InvalidChecksum":
            (.invalidArgument, "The server rejected the request as invalid.")
        case "InvalidRange": (.rangeNotSatisfiable, "The range lies outside the file.")
        case "ResourceLocked", "LockTimeout": (.unavailable, "Another request is writing this file.")
        case "ResourceReferenced", "TransactionError":
            (Code(rawValue: failure.code), "Another request changed it first. Try again.")
        case "SlowDown", "too_many_connections": (.rateLimited, "Too many requests. Wait a moment.")
        case "DatabaseTimeout", "DatabaseReadOnly": (.unavailable, "The server's database is not responding.")
        case "FeatureNotEnabled", "NotSupported": (.unsupported, "The project does not offer this.")
        // After all more specific codes, since a file's name may look like this message.
        case _ where failure.isAboutKey:
            (.unauthenticated, Self.refusedKey)
        case _ where failure.isAboutToken: (.unauthenticated, "The server rejected the session's token.")
        case "AccessDenied", "Unauthorized": (.unauthorized, Self.missingPolicy)
        default: nil
        }
    }

    /// Resumable uploads return little text, but the actual status.
    private static func bySession(_ failure: SupabaseFileFailure) -> (Code, String)? {
        switch failure.status {
        case 404 where !failure.isPage, 410 where !failure.isPage:
            (.uploadExpired, "The server no longer knows the upload. Start it again.")
        case 423: (.unavailable, "Another request is writing this upload.")
        default: nil
        }
    }

    private static func byStatus(_ failure: SupabaseFileFailure) -> (Code, String) {
        switch failure.status {
        case 400..<500 where failure.isPage && ![407, 413, 429].contains(failure.status):
            (
                .unavailable,
                "A web page came back instead of Supabase's answer (HTTP \(failure.status)). Check that the url is the "
                    + "project's own, and that no proxy or sign-in page of the network is in between."
            )
        case 400: (.invalidArgument, "The server rejected the request as invalid.")
        case 401: (.unauthenticated, "The server rejected the session's token.")
        case 402: (.quotaExceeded, "The project's quota is used up.")
        case 403: (.unauthorized, Self.missingPolicy)
        case 404: (.notFound, "The file does not exist, or the rules hide it.")
        case 408: (.deadlineExceeded, "The server timed out waiting for the request.")
        case 409: (.alreadyExists, "A file already exists at this path.")
        case 413: (.tooLarge, "The file is larger than the bucket allows.")
        case 415: (.invalidArgument, "The bucket does not accept this content type.")
        case 416: (.rangeNotSatisfiable, "The range lies outside the file.")
        case 429: (.rateLimited, "Too many requests. Wait a moment.")
        case 500...599: (.unavailable, "The server is not responding.")
        default:
            (
                Code(rawValue: failure.code.isEmpty ? "http\(failure.status)" : failure.code),
                "The server refused the call (HTTP \(failure.status)). Check that the url is a Supabase project's, and see Logs, "
                    + "Storage in the dashboard."
            )
        }
    }

    static let unreadable = FileStorageError(.unavailable, "The server's response could not be read.")
}

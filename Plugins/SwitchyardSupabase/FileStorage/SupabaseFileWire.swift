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

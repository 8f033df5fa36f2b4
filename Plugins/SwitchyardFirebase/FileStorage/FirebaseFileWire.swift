import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// The object resource of Firebase's file storage. 64-bit integers are strings; numbers are accepted as well.
struct FirebaseObject: Sendable {
    let stored: StoredFile
    /// The tokens of addresses that work without signing in, in the server's order.
    let downloadTokens: [String]

    /// - Throws: `.unavailable` if this is not an object, such as a truncated answer or one from a proxy.
    init(_ bytes: [UInt8]) throws(FileStorageError) {
        guard let json = try? JSON(parsing: bytes), let object = json.object, let name = object["name"]?.string,
            let path = try? FilePath(validating: name), let size = Self.integer(object["size"])
        else { throw .unreadableAnswer }
        let md5 = object["md5Hash"]?.string.flatMap { Base64.decode($0) }
        let custom = object["metadata"]?.object?.compactMap { member in
            member.value.string.map { (member.key, $0) }
        }
        let metadata = FileMetadata(
            path: path, size: size, contentType: object["contentType"]?.string ?? "application/octet-stream",
            createdAt: Self.time(object["timeCreated"]), updatedAt: Self.time(object["updated"]),
            version: Self.integer(object["generation"]).map { String($0) }, md5: md5.map { Hex.encode($0) },
            cacheControl: object["cacheControl"]?.string,
            custom: Dictionary(custom ?? [], uniquingKeysWith: { _, last in last }))
        stored = StoredFile(
            metadata, ContentChecksums(crc32c: object["crc32c"]?.string.flatMap(Self.crc32c), md5: md5))
        downloadTokens = (object["downloadTokens"]?.string ?? "").split(separator: ",").map(String.init)
    }

    /// Base64 of four bytes; the emulator writes a decimal number.
    static func crc32c(_ text: String) -> UInt32? {
        if let bytes = Base64.decode(text), bytes.count == 4 {
            return bytes.reduce(0) { $0 << 8 | UInt32($1) }
        }
        return UInt32(text)
    }

    private static func integer(_ json: JSON?) -> Int64? { json?.int64 ?? json?.string.flatMap { Int64($0) } }

    private static func time(_ json: JSON?) -> Timestamp? {
        json?.string.flatMap { RFC3339.parse($0) }.flatMap {
            try? Timestamp(validatingSeconds: $0.seconds, nanoseconds: $0.nanoseconds)
        }
    }
}

extension FilePath {
    /// The metadata of a new file, sent before its bytes.
    func firebaseDescription(_ options: UploadOptions) -> JSON {
        var object: JSONObject = [
            "name": .string(rawValue), "contentType": .string(options.contentType ?? contentType),
        ]
        if let control = options.cacheControl { object["cacheControl"] = .string(control) }
        if !options.custom.isEmpty { object["metadata"] = Self.object(options.custom.mapValues { $0 }) }
        return .object(object)
    }

    static func object(_ entries: [String: String?]) -> JSON {
        .object(
            JSONObject(
                entries.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.map { .string($0) } ?? .null) }))
    }
}

extension FileMetadataChanges {
    /// Absent values are kept, and `null` removes one.
    var firebase: JSON {
        var object = JSONObject()
        if let contentType { object["contentType"] = .string(contentType) }
        if let cacheControl { object["cacheControl"] = .string(cacheControl) }
        if !custom.isEmpty { object["metadata"] = FilePath.object(custom) }
        return .object(object)
    }
}

/// A body of exactly two parts, JSON before bytes, in the strict form that the vendor's parsers require: no other headers, one
/// space after the colon, nothing after the closing dashes.
struct FirebaseMultipart: Sendable {
    let boundary: String
    let bytes: [UInt8]

    init(_ description: JSON, contentType: String, _ content: [UInt8], boundary: String = RandomID.make(length: 32)) {
        self.boundary = boundary
        var body = Array("--\(boundary)\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".utf8)
        description.write(to: &body)
        body += "\r\n--\(boundary)\r\nContent-Type: \(contentType)\r\n\r\n".utf8
        body.reserveCapacity(body.count + content.count + boundary.utf8.count + 8)
        body += content
        body += "\r\n--\(boundary)--".utf8
        bytes = body
    }
}

/// The headers of a download.
extension DownloadHead {
    init(firebase head: HTTPResponseHead) throws(FileStorageError) {
        let isUnpacked = head.isUnpacked
        var start: Int64 = 0
        var total = isUnpacked ? nil : head.headers["Content-Length"].flatMap { Int64($0) }
        if head.status == 206 {
            guard let range = head.headers["Content-Range"].flatMap(ContentRange.init) else {
                throw FileStorageError(.unavailable, "The server sent a part of the file without saying which.")
            }
            (start, total) = (range.start, range.total)
        }
        var sums = ContentChecksums()
        for item in head.headers.values(for: "x-goog-hash").flatMap({ $0.split(separator: ",") }) {
            let item = item.drop { $0 == " " }
            if item.hasPrefix("crc32c=") { sums.crc32c = FirebaseObject.crc32c(String(item.dropFirst(7))) }
            if item.hasPrefix("md5=") { sums.md5 = Base64.decode(item.dropFirst(4)) }
        }
        self.init(
            start: start, total: total, version: head.headers["x-goog-generation"],
            checksums: sums, isUnpacked: isUnpacked)
    }
}

extension HTTPResponseHead {
    /// Whether an object that is stored compressed is sent decompressed. Without the header for that, as on the vendor's
    /// emulator, its length is unknown, and no encoding is named where usually an empty one is.
    fileprivate var isUnpacked: Bool {
        guard headers["Content-Encoding"] == nil else { return false }
        guard let stored = headers["x-goog-stored-content-encoding"] else {
            return status == 200 && headers["Content-Length"] == nil && headers["x-goog-generation"] != nil
        }
        return stored != "identity"
    }
}

/// `bytes 0-99/1234`, with `*` for an unknown size.
struct ContentRange: Sendable {
    let start: Int64
    let total: Int64?

    init?(_ header: String) {
        guard header.hasPrefix("bytes ") else { return nil }
        let parts = header.dropFirst(6).split(separator: "/")
        guard parts.count == 2, let start = parts[0].split(separator: "-").first.flatMap({ Int64($0) }) else {
            return nil
        }
        self.start = start
        total = Int64(parts[1])
    }
}

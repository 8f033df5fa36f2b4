import Foundation
public import Switchyard
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
    /// Absent values stay, and `null` removes one.
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

/// An error answer, with the details useful for debugging.
struct FirebaseFileFailure: Error, CustomStringConvertible {
    let status: Int
    /// The server's text: mostly from JSON, sometimes plain.
    let text: String
    /// Whether it is a web page, which the service never sends: it comes from a proxy.
    let isPage: Bool

    var description: String { "\(status): \(text)" }

    init(_ response: HTTPResponse) {
        status = response.status
        // The upload server may answer with a page, but marks its answers with this header.
        isPage = response.body.isWebPage && response.headers["X-GUploader-UploadID"] == nil
        let message = (try? JSON(parsing: response.body))?["error"]?["message"]?.string
        text = String((message ?? String(decoding: response.body, as: UTF8.self)).prefix(300))
    }
}

/// Maps the statuses of Firebase's file storage to the portable codes. Bodies vary, so only the status counts.
extension FileStorageError {
    /// The subject of a request: a 404 has another meaning for each.
    enum FirebaseSubject: Sendable {
        case object, bucket, session
    }

    init(firebase response: HTTPResponse, about subject: FirebaseSubject, in bucket: String, now: Timestamp) {
        let failure = FirebaseFileFailure(response)
        let missingBucket =
            "The bucket “\(bucket)” does not exist. The Firebase console shows its name under Storage; check bucket in Firebase's "
            + "configuration."
        let (code, message): (Code, String) =
            switch (response.status, subject) {
            case (400..<500, _) where failure.isPage && ![407, 413, 429].contains(failure.status):
                (
                    .unavailable,
                    "A web page came back instead of Firebase's answer (HTTP \(response.status)). Check hosts and emulators "
                        + "in Firebase's configuration, and that no proxy or sign-in page of the network is in between."
                )
            case (400, _): (.invalidArgument, "The server rejected the request as invalid.")
            case (401, _) where failure.text.includes("App Check"):
                (.unauthorized, "The App Check token is missing or invalid. Check the source of App Check tokens.")
            case (401, _) where failure.text.includes("local Firebase"): (.unauthenticated, failure.text)
            case (401, _): (.unauthenticated, "The server rejected the session's token.")
            case (402, _): (.quotaExceeded, "The project's quota is used up.")
            case (403, _): (.unauthorized, "The security rules do not allow it.")
            case (404, .object) where failure.text.includes("bucket"): (.notFound, missingBucket)
            case (404, .object): (.notFound, "There is no such file.")
            case (404, .bucket): (.notFound, missingBucket)
            case (404, .session), (410, .session):
                (.uploadExpired, "The server no longer knows the upload. Start it again.")
            case (408, _): (.deadlineExceeded, "The server timed out waiting for the request.")
            case (413, _): (.tooLarge, "The file is larger than the server allows.")
            case (416, _): (.rangeNotSatisfiable, "The range lies outside the file.")
            case (429, _): (.rateLimited, "Too many requests. Wait a moment.")
            case (500...599, _): (.unavailable, "The server is not responding.")
            default:
                (
                    Code(rawValue: "http\(response.status)"),
                    "The server refused the call (HTTP \(response.status)). Check hosts and emulators in Firebase's "
                        + "configuration."
                )
            }
        let wait = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) }
        self.init(code, message, retryAfter: wait, underlying: failure)
    }

    init(_ failure: FirebaseTokens.Failure) { self.init(failure.meaning) }

    static let unreadableAnswer = FileStorageError(.unavailable, "The server's response could not be read.")
}

extension ErrorCode {
    /// The file has no download token, so it has no address that works without signing in. Files stored with tools other than
    /// Firebase's may have none; the console can create one.
    public static let noDownloadURL = Self(rawValue: "noDownloadURL")
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

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

    /// From the path after a route. Empty segments are part of the name.
    init(_ request: ServerRequest, behind route: String) throws(LocalSupabaseFileError) {
        let prefix = "/storage/v1/\(route)/"
        guard request.rawPath.hasPrefix(prefix) else { throw .invalidRequest("The address is coded in a strange way") }
        let rest = request.rawPath.dropFirst(prefix.count)
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bucket = PercentCoding.decode(parts[0]), let name = PercentCoding.decode(parts[1])
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

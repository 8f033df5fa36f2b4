import SwitchyardBytes

/// The checksums that a server reports, if any.
package struct ContentChecksums: Sendable, Hashable {
    package var crc32c: UInt32?
    /// Sixteen bytes.
    package var md5: [UInt8]?

    package init(crc32c: UInt32? = nil, md5: [UInt8]? = nil) {
        self.crc32c = crc32c
        self.md5 = md5
    }

    /// Whether the checksums known on both sides agree.
    package func agree(with other: ContentChecksums) -> Bool {
        if let mine = crc32c, let theirs = other.crc32c, mine != theirs { return false }
        if let mine = md5, let theirs = other.md5, mine != theirs { return false }
        return true
    }
}

/// Computes checksums of passing bytes.
///
/// CRC32C costs little enough for every byte of a large file; MD5 is added if a server reports nothing else.
struct ContentDigest: Sendable {
    private var crc: CRC32C
    private var md5: MD5?
    /// The number of bytes so far.
    private(set) var count: Int64

    init(withMD5: Bool = false) {
        crc = CRC32C()
        md5 = withMD5 ? MD5() : nil
        count = 0
    }

    /// Continues after `count` bytes with the checksum `crc32c`.
    init(resuming crc32c: UInt32, after count: Int64) {
        crc = CRC32C(resuming: crc32c)
        md5 = nil
        self.count = count
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crc.update(bytes)
        md5?.update(bytes)
        count += Int64(bytes.count)
    }

    mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    var checksums: ContentChecksums { ContentChecksums(crc32c: crc.value, md5: md5?.digest()) }
}

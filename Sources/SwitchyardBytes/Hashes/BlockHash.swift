import CSwitchyardChecksum

/// A hash of the MD5 and SHA family, which mixes 64-byte blocks into a few words.
package protocol BlockHashFunction: Sendable {
    /// The initial words.
    static var start: [UInt32] { get }
    static var isBigEndian: Bool { get }
    /// Mixes complete blocks into the words, of which there are as many as in ``start``.
    static func mix(_ words: inout [UInt32], _ blocks: UnsafePointer<UInt8>, _ count: Int)
}

/// RFC 1321. For checksums required by protocols; it does not protect against attackers.
package enum MD5Function: BlockHashFunction {
    package static var start: [UInt32] { [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476] }
    package static var isBigEndian: Bool { false }
    package static func mix(_ words: inout [UInt32], _ blocks: UnsafePointer<UInt8>, _ count: Int) {
        cchecksum_md5(&words, blocks, count)
    }
}

/// FIPS 180-4, section 6.1. For the WebSocket handshake and similar uses; not for anything that must resist forgery.
package enum SHA1Function: BlockHashFunction {
    package static var start: [UInt32] { [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0] }
    package static var isBigEndian: Bool { true }
    package static func mix(_ words: inout [UInt32], _ blocks: UnsafePointer<UInt8>, _ count: Int) {
        cchecksum_sha1(&words, blocks, count)
    }
}

/// FIPS 180-4, section 6.2.
package enum SHA256Function: BlockHashFunction {
    package static var start: [UInt32] {
        [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19]
    }
    package static var isBigEndian: Bool { true }
    package static func mix(_ words: inout [UInt32], _ blocks: UnsafePointer<UInt8>, _ count: Int) {
        cchecksum_sha256(&words, blocks, count)
    }
}

package typealias MD5 = BlockHash<MD5Function>
package typealias SHA1 = BlockHash<SHA1Function>
package typealias SHA256 = BlockHash<SHA256Function>

/// An incremental hash: any number of updates, then the digest. A copy continues independently.
package struct BlockHash<Function: BlockHashFunction>: Sendable {
    private var words = Function.start
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    package init() { pending.reserveCapacity(64) }

    package static func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
        var hash = Self()
        hash.update(bytes)
        return hash.digest()
    }

    package mutating func update(_ bytes: some Collection<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ update(UnsafeRawBufferPointer($0)) }) == nil {
            Array(bytes).withUnsafeBytes { update($0) }
        }
    }

    package mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { update($0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var rest = bytes[...]
        if !pending.isEmpty {
            let missing = rest.prefix(64 - pending.count)
            pending.append(contentsOf: missing)
            rest = rest.dropFirst(missing.count)
            guard pending.count == 64 else { return }
            pending.withUnsafeBytes { Self.mix($0, into: &words) }
            pending.removeAll(keepingCapacity: true)
        }
        let whole = rest.count / 64 * 64
        if whole > 0 { Self.mix(UnsafeRawBufferPointer(rebasing: rest.prefix(whole)), into: &words) }
        pending.append(contentsOf: rest.dropFirst(whole))
    }

    /// The digest of everything so far; updates may follow.
    package func digest() -> [UInt8] {
        var padding = pending
        padding.append(0x80)
        padding.append(contentsOf: repeatElement(0, count: (120 - padding.count) % 64))
        let bits = Function.isBigEndian ? (length &* 8).bigEndian : (length &* 8).littleEndian
        withUnsafeBytes(of: bits) { padding.append(contentsOf: $0) }
        var words = words
        padding.withUnsafeBytes { Self.mix($0, into: &words) }
        return words.flatMap { word in
            withUnsafeBytes(of: Function.isBigEndian ? word.bigEndian : word.littleEndian) { Array($0) }
        }
    }

    private static func mix(_ blocks: UnsafeRawBufferPointer, into words: inout [UInt32]) {
        guard let first = blocks.baseAddress else { return }
        Function.mix(&words, first.assumingMemoryBound(to: UInt8.self), blocks.count / 64)
    }
}

package typealias HMACSHA1 = HMAC<SHA1Function>
package typealias HMACSHA256 = HMAC<SHA256Function>

/// Incremental HMAC (RFC 2104) with a hash that has 64-byte blocks.
package struct HMAC<Function: BlockHashFunction>: Sendable {
    private var inner = BlockHash<Function>()
    private let outerKey: [UInt8]

    package init(key: some Collection<UInt8>) {
        var block = key.count > 64 ? BlockHash<Function>.digest(of: key) : Array(key)
        block.append(contentsOf: repeatElement(0, count: 64 - block.count))
        inner.update(block.map { $0 ^ 0x36 })
        outerKey = block.map { $0 ^ 0x5C }
    }

    package static func code(for bytes: some Collection<UInt8>, key: some Collection<UInt8>) -> [UInt8] {
        var hmac = Self(key: key)
        hmac.update(bytes)
        return hmac.code()
    }

    package mutating func update(_ bytes: some Collection<UInt8>) { inner.update(bytes) }

    package func code() -> [UInt8] {
        var outer = BlockHash<Function>()
        outer.update(outerKey)
        outer.update(inner.digest())
        return outer.digest()
    }

    /// Compares in a time that depends only on the lengths, so that a forger learns nothing from it.
    package static func areEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        areEqual(Array(a), Array(b))
    }

    package static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for index in a.indices { difference |= a[index] ^ b[index] }
        return difference == 0
    }
}

/// The codes of authenticator apps (RFC 6238): six digits, with a new code every thirty seconds.
package enum OneTimeCode {
    package static let period: Int64 = 30

    package static func step(at seconds: Int64) -> Int64 { max(0, seconds) / period }

    /// The time step of a code; the clocks of user and server may differ by one step.
    package static func step(of code: String, key: [UInt8], at seconds: Int64) -> Int64? {
        let now = step(at: seconds)
        return (now - 1...now + 1).first { OneTimeCode.code(key: key, step: $0) == code }
    }

    package static func code(key: [UInt8], step: Int64) -> String {
        let message = (0..<8).reversed().map { UInt8(truncatingIfNeeded: step >> ($0 * 8)) }
        let digest = HMACSHA1.code(for: message, key: key)
        let offset = Int(digest[19] & 15)
        let word = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(word % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}

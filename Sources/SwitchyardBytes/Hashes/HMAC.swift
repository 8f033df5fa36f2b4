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

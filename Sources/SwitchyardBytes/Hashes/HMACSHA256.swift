/// RFC 2104 over SHA-256, incremental.
package struct HMACSHA256: Sendable {
    private var inner = SHA256()
    private let outerKey: [UInt8]

    package init(key: some Collection<UInt8>) {
        var block = key.count > 64 ? SHA256.digest(of: key) : Array(key)
        block.append(contentsOf: repeatElement(0, count: 64 - block.count))
        inner.update(block.map { $0 ^ 0x36 })
        outerKey = block.map { $0 ^ 0x5C }
    }

    package static func code(for bytes: some Collection<UInt8>, key: some Collection<UInt8>) -> [UInt8] {
        var hmac = HMACSHA256(key: key)
        hmac.update(bytes)
        return hmac.code()
    }

    package mutating func update(_ bytes: some Collection<UInt8>) { inner.update(bytes) }

    package func code() -> [UInt8] {
        var outer = SHA256()
        outer.update(outerKey)
        outer.update(inner.digest())
        return outer.digest()
    }

    /// Compares in a time that depends on the lengths only, so that a forger learns nothing from it.
    package static func areEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

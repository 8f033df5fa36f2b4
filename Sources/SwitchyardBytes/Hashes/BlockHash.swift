/// A hash of the family of MD5 and SHA: 64-byte blocks mixed into a few words.
package protocol BlockHashFunction: Sendable {
    init()
    /// Mixes in sixteen words, each made of four bytes in the function's own order.
    mutating func mix(_ block: UnsafeBufferPointer<UInt32>)
    /// The words of the digest.
    var words: [UInt32] { get }
    static var isBigEndian: Bool { get }
}

package typealias MD5 = BlockHash<MD5Function>
package typealias SHA1 = BlockHash<SHA1Function>
package typealias SHA256 = BlockHash<SHA256Function>

/// An incremental hash: any number of updates, then the digest. A value: a copy goes on independently.
package struct BlockHash<Function: BlockHashFunction>: Sendable {
    private var function = Function()
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
            pending.withUnsafeBytes { function.mix(blocksOf: $0) }
            pending.removeAll(keepingCapacity: true)
        }
        let whole = rest.count / 64 * 64
        if whole > 0 { function.mix(blocksOf: UnsafeRawBufferPointer(rebasing: rest.prefix(whole))) }
        pending.append(contentsOf: rest.dropFirst(whole))
    }

    /// The digest of everything so far; updates may follow.
    package func digest() -> [UInt8] {
        var padding = pending
        padding.append(0x80)
        padding.append(contentsOf: repeatElement(0, count: (120 - padding.count) % 64))
        let bits = Function.isBigEndian ? (length &* 8).bigEndian : (length &* 8).littleEndian
        withUnsafeBytes(of: bits) { padding.append(contentsOf: $0) }
        var function = function
        padding.withUnsafeBytes { function.mix(blocksOf: $0) }
        return function.words.flatMap { word in
            withUnsafeBytes(of: Function.isBigEndian ? word.bigEndian : word.littleEndian) { Array($0) }
        }
    }
}

extension BlockHashFunction {
    fileprivate mutating func mix(blocksOf bytes: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 16) { block in
            for start in stride(from: 0, to: bytes.count, by: 64) {
                for index in 0..<16 {
                    let word = bytes.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self)
                    block.initializeElement(
                        at: index, to: Self.isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word))
                }
                mix(UnsafeBufferPointer(block))
            }
        }
    }
}

extension UInt32 {
    @inline(__always)
    func rotatedLeft(_ bits: UInt32) -> UInt32 { self &<< bits | self &>> (32 &- bits) }
    @inline(__always)
    func rotatedRight(_ bits: UInt32) -> UInt32 { self &>> bits | self &<< (32 &- bits) }
}

import Switchyard
import SwitchyardBytes

/// A path in sixteen bytes, so that millions of them fit into memory.
struct PathDigest: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(_ path: String) { self.init(SHA256.digest(of: Array(path.utf8))) }

    init(_ digest: [UInt8]) {
        high = digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

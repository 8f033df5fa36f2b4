import Foundation

/// A file that goes with the test.
final class TemporaryFile: Sendable {
    let path: String

    init(_ bytes: [UInt8] = []) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("wire-\(UUID().uuidString)").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var bytes: [UInt8] { (FileManager.default.contents(atPath: path)).map { Array($0) } ?? [] }
}

extension [UInt8] {
    /// FNV-1a: enough to tell one body from another.
    var checksum: UInt64 {
        reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardProviderKit

/// The bytes of an upload that come from a stream.
@Suite struct UploadContentTests {
    /// Some pieces, given out one by one.
    private static func stream(_ pieces: [Data], length: Int64?) throws -> UploadContent {
        try UploadContent(
            .stream(length: length) {
                AsyncThrowingStream<Data, any Error> { continuation in
                    for piece in pieces { continuation.yield(piece) }
                    continuation.finish()
                }
            })
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `Parts are the stream's bytes in order, whatever sizes it comes in and however much of each is taken`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let pieces = (0..<60).map { _ in
            Data((0..<Int.random(in: 1...70, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        let all = Array(pieces.joined())
        let content = try Self.stream(pieces, length: seed.isMultiple(of: 2) ? Int64(all.count) : nil)
        // What is still being sent keeps its bytes while the next part is made.
        var held: [(offset: Int, bytes: [UInt8])] = []
        var offset = 0
        while offset < all.count {
            let count = Int.random(in: 1...150, using: &random)
            let (ready, isEnd) = try await content.prepare(Int64(offset), Int64(count))
            #expect(ready == Int64(min(count, all.count - offset)))
            #expect(isEnd == (offset + Int(ready) == all.count))
            guard case .memory(let bytes) = content.bytes(Int64(offset), ready) else {
                Issue.record("a stream's bytes are in memory")
                return
            }
            if Bool.random(using: &random) { held.append((offset, bytes)) }
            #expect(bytes == Array(all[offset..<offset + Int(ready)]))
            // Now and then the server takes less than it was sent.
            offset += Bool.random(using: &random) ? Int(ready) : Int.random(in: 0...Int(ready), using: &random)
        }
        for part in held { #expect(part.bytes == Array(all[part.offset..<part.offset + part.bytes.count])) }
        let last = try await content.prepare(Int64(all.count), 10)
        #expect(last == (0, true))
    }
}

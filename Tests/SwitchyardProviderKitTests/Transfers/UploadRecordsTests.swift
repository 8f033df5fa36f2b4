import Foundation
import Switchyard
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardProviderKit

/// Claims, taken and given back by many at once.
@Suite struct UploadRecordsTests {
    private final class Tally: Sendable {
        struct Counts {
            var holders = 0
            var claims = 0
            var overlaps = 0
        }
        private let counts = Mutex(Counts())
        var all: Counts { counts.withLock { $0 } }

        func hold() {
            counts.withLock { counts in
                counts.claims += 1
                counts.holders += 1
                if counts.holders > 1 { counts.overlaps += 1 }
            }
            sched_yield()
            counts.withLock { $0.holders -= 1 }
        }
    }

    @Test func `However claims are taken and given back, one at most is held`() async throws {
        let folder = ScratchSpace.url.appendingPathComponent("claims-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await onOwnThread {
                        // As many processes would, each with a view of its own.
                        let records = UploadRecords(folder: folder)
                        for _ in 0..<5_000 {
                            guard let claim = records.claim("a") else { continue }
                            tally.hold()
                            claim.release()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(tally.all.claims > 0 && tally.all.overlaps == 0)
    }
}

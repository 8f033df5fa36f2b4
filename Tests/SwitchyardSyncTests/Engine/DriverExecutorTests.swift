import Dispatch
import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

/// Commits that run where the driver transfers.
@Suite struct DriverExecutorTests {
    private final class QueueExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "transfers")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private final class Driver: ForwardingDriver {
        let base = ModelDriver(ModelServer())
        let transfers = QueueExecutor()
        /// Whether each commit ran where transfers run.
        let places = Mutex<[Bool]>([])

        var executor: (any TaskExecutor)? { transfers }

        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            let isThere = withUnsafeCurrentTask { $0?.unownedTaskExecutor == transfers.asUnownedTaskExecutor() }
            places.withLock { $0.append(isThere) }
            return try await base.commit(batch)
        }
    }

    private func places(in storage: SyncStorage = .memory, writing counts: Int...) async throws -> [Bool] {
        let driver = Driver()
        let client = SyncedStorageClient(driver: driver, storage: storage)
        for count in counts {
            var batch = WriteBatch()
            for number in 0..<count { batch.append(try .set("rooms/room\(number)", ["size": .of(count)])) }
            try await client.commit(batch).acknowledged()
        }
        await client.shutDown()
        return driver.places.withLock { $0 }
    }

    @Test func `A small commit of an engine in memory runs where the driver transfers`() async throws {
        #expect(try await places(writing: 1, 20) == [true, true])
    }

    @Test func `A large commit does not hold up transfers`() async throws {
        #expect(try await places(writing: 21, 1) == [false, true])
    }

    @Test func `Transfers do not wait for the disk`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("executor-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try await places(in: .folder(folder), writing: 1, 1) == [false, false])
    }
}

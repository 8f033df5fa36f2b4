import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport

@testable import SwitchyardSync

/// One device on a model server, in a time in which a minute is a few milliseconds.
func device(
    _ server: ModelServer, _ storage: SyncStorage = .memory, user: String? = nil,
    clock: any Clock<Duration> = FastClock()
) -> SyncedStorageClient {
    SyncedStorageClient(
        SyncEngine(
            ModelDriver(server, clock: clock), storage, userID: user, clock: clock,
            now: { Timestamp(microseconds: 77_000_000) }, chance: { 0.5 }))
}

extension SyncedStorageClient {
    var queue: [PendingWrite] { get async throws { try await pendingWrites().newest } }
    var refusals: [RefusedWrite] { get async throws { try await refusedWrites().newest } }
}

extension SnapshotStream {
    /// The present state.
    var newest: Element {
        get async throws {
            for try await element in self { return element }
            throw StorageError(.internal, "A stream without a first element.")
        }
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// The test data of the offline engine's sections.
enum SyncSample {
    static let version = Timestamp(microseconds: 1_000_000)

    /// A document of seven fields, slightly larger than a quarter of a kilobyte.
    ///
    /// - Parameter words: How often `text ` is repeated in the note.
    static func fields(_ number: Int, mark: Int = 0, words: Int = 30) -> DocumentData {
        [
            "rank": .integer(Int64(number)), "state": .string(number % 3 == 0 ? "open" : "closed"),
            "name": .string("Item number \(number)"), "isPublic": .bool(number % 2 == 0),
            "tags": .array([.string("first"), .string("second")]), "at": .timestamp(version),
            "note": .string(String(repeating: "text ", count: words) + "\(mark)"),
        ]
    }

    static func path(_ number: Int, in collection: String = "items") -> StoragePath {
        StoragePath(unchecked: "\(collection)/\(number)")
    }

    static func document(_ number: Int, in collection: String = "items", mark: Int = 0) -> DocumentSnapshot {
        .existing(
            path(number, in: collection), fields(number, mark: mark), createTime: version,
            updateTime: Timestamp(microseconds: 1_000_000 + Int64(mark)))
    }

    static func temporaryFolder() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("switchyard-bench-\(UUID().uuidString)")
    }
}

/// A machine whose streams open at once, with the snapshots and requests that it produced.
final class SyncBenchSetup {
    let machine: SyncMachine
    private(set) var snapshots: [Int: ViewSnapshot] = [:]
    private(set) var raised = 0

    init(_ store: any SyncStore) throws {
        machine = try SyncMachine(store: store, policy: .standard, owner: QueueOwner(nil))
        perform(machine.start())
    }

    func feed(_ event: SyncEvent) { perform(machine.handle(event)) }

    private func perform(_ actions: [SyncAction]) {
        for action in actions {
            switch action {
            case .snapshot(let id, let snapshot):
                snapshots[id] = snapshot
                raised += 1
            case .openWatch: feed(.watchOpened)
            case .openWriter: feed(.writerOpened)
            default: break
            }
        }
    }

    /// The server's complete answer to a requested target.
    func answer(_ target: Int, _ documents: [DocumentSnapshot]) {
        feed(.watched(.added([target])))
        for document in documents { feed(.watched(.changed(document, targets: [target]))) }
        feed(.watched(.current([target], token: [1])))
        feed(.watched(.snapshot(version: SyncSample.version)))
    }
}

/// A server that never answers, so that everything comes from local data.
struct SilentDriver: SyncDriver {
    let provider: InfrastructureProvider = "silent"
    let capabilities = StorageCapabilities.all
    let traits = SyncDriverTraits(hasLedger: true)

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments { throw await silence() }
    func results(of query: Query) async throws(StorageError) -> FetchedDocuments { throw await silence() }
    func openWatch() async throws(StorageError) -> any WatchConnection { throw await silence() }
    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult { throw await silence() }

    private func silence() async -> StorageError {
        await untilCancelled()
        return StorageError(.cancelled, "No one answers.")
    }
}

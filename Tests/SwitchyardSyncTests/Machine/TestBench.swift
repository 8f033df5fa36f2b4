import Switchyard
import SwitchyardSync

/// A machine whose streams open at once; keeps what it asked for.
final class TestBench {
    let machine: SyncMachine
    private(set) var requests: [TargetRequest] = []
    private(set) var snapshots: [ViewSnapshot] = []
    /// Listeners that are over, and why.
    private(set) var failures: [Int: StorageError] = [:]
    private(set) var openedStreams = 0
    private(set) var sent: [OutgoingBatch] = []
    /// The answers to writes, by their tokens.
    private(set) var answers: [Int: Result<CommitResult, StorageError>] = [:]
    private(set) var queueChanges: [QueueChange] = []

    init(
        _ policy: CachePolicy = .standard, over store: any SyncStore = MemoryStore(), endsWithSession: Bool = false,
        usesTags: Bool = false, isProvisional: ((StoragePath) -> Bool)? = nil
    ) throws {
        machine = try SyncMachine(
            store: store, policy: policy, owner: QueueOwner(nil), usesTags: usesTags, endsWithSession: endsWithSession,
            isProvisional: isProvisional)
        take(machine.start())
    }

    func feed(_ event: SyncEvent) { take(machine.handle(event)) }
    func forgetSnapshots() { snapshots = [] }

    private func take(_ actions: [SyncAction]) {
        for action in actions {
            switch action {
            case .openWatch:
                openedStreams += 1
                feed(.watchOpened)
            case .openWriter: feed(.writerOpened)
            case .sendWatch(.add(let target)): requests.append(target)
            case .sendWrite(let batch): sent.append(batch)
            case .snapshot(_, let snapshot): snapshots.append(snapshot)
            case .listenFailed(let id, let error): failures[id] = error
            case .writeFinished(let token, let result): answers[token] = result
            case .queueChanged(let change): queueChanges.append(change)
            case .schedule(.watchBackoff, _): feed(.timer(.watchBackoff))
            default: break
            }
        }
    }

    /// The whole answer to a listen: documents, complete, as of `version`.
    func answer(_ id: Int, _ documents: [(StoragePath, DocumentData)], at version: Int64, isFirst: Bool = true) {
        let time = Timestamp(microseconds: version)
        if isFirst { feed(.watched(.added([id]))) }
        for (path, data) in documents {
            feed(.watched(.changed(.existing(path, data, updateTime: time), targets: [id])))
        }
        feed(.watched(.current([id], token: Array("token \(version)".utf8))))
        feed(.watched(.snapshot(version: time)))
    }
}

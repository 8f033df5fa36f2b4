import Switchyard
import SwitchyardSync

/// A machine whose streams open at once; keeps what it asked for.
final class TestBench {
    let machine: SyncMachine
    private(set) var requests: [TargetRequest] = []
    private(set) var snapshots: [ViewSnapshot] = []

    init(_ policy: CachePolicy = .standard, over store: any SyncStore = MemoryStore()) throws {
        machine = try SyncMachine(store: store, policy: policy, owner: QueueOwner(nil))
        take(machine.start())
    }

    func feed(_ event: SyncEvent) { take(machine.handle(event)) }
    func forgetSnapshots() { snapshots = [] }

    private func take(_ actions: [SyncAction]) {
        for action in actions {
            switch action {
            case .openWatch: feed(.watchOpened)
            case .openWriter: feed(.writerOpened)
            case .sendWatch(.add(let target)): requests.append(target)
            case .snapshot(_, let snapshot): snapshots.append(snapshot)
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

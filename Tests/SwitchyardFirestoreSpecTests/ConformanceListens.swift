import Switchyard
import SwitchyardBytes

@testable import SwitchyardFirestoreFormat
@testable import SwitchyardSync

/// The cases of streams: messages of the server in, snapshots of the collection `C` ordered by `a` out, through the engine.
enum ConformanceListens {
    private struct Seen {
        let snapshot: ViewSnapshot
        let readTime: Timestamp?
    }

    static func outcome(of body: JSON) throws -> ConformanceOutcome {
        let machine = try SyncMachine(
            store: MemoryStore(), policy: .eager, owner: QueueOwner(nil))
        var listener = Listener(machine)
        listener.take(machine.start())
        let query = Query(in: "C").ordered(by: "a")
        listener.take(
            machine.handle(
                .listen(1, .query(query), ViewOptions(includesMetadataChanges: false, waitsForSync: true))))
        for message in body["responses"]?.array ?? [] {
            let response = try FirestoreListenResponse(firestore: message, in: ConformanceCase.database)
            listener.take(response)
        }
        if body["isError"]?.bool == true { return listener.hasFailed ? .passed : .failed("no error") }
        let expected = body["snapshots"]?.array ?? []
        guard !listener.hasFailed else { return .failed("the listener failed") }
        guard expected.count == listener.seen.count else {
            return .failed("\(listener.seen.count) snapshots, expected \(expected.count)")
        }
        for (index, (snapshot, seen)) in zip(expected, listener.seen).enumerated() {
            if let problem = try problem(seen, snapshot) { return .failed("snapshot \(index): \(problem)") }
        }
        return .passed
    }

    private static func problem(_ seen: Seen, _ expected: JSON) throws -> String? {
        let documents = try (expected["docs"]?.array ?? []).map(document)
        guard seen.snapshot.documents.map(Shown.init) == documents.map(Shown.init) else {
            return "documents \(seen.snapshot.documents.map(\.path)), expected \(documents.map(\.path))"
        }
        guard seen.readTime == (try expected["readTime"]?.string.map { try Timestamp(firestore: $0) }) else {
            return "another time"
        }
        let changes = expected["changes"]?.array ?? []
        guard changes.count == seen.snapshot.changes.count else { return "\(seen.snapshot.changes.count) changes" }
        for (change, expected) in zip(seen.snapshot.changes, changes) {
            let old = expected["oldIndex"]?.int ?? 0
            let new = expected["newIndex"]?.int ?? 0
            guard change.kind.rawValue.uppercased() == expected["kind"]?.string,
                change.oldIndex == (old < 0 ? nil : old), change.newIndex == (new < 0 ? nil : new),
                Shown(change.document) == Shown(try document(expected["doc"] ?? .null))
            else {
                let all = seen.snapshot.changes.map {
                    "\($0.kind) \($0.document.path) \($0.oldIndex ?? -1) → \($0.newIndex ?? -1)"
                }
                return "changes \(all)"
            }
        }
        return nil
    }

    private static func document(_ json: JSON) throws -> DocumentSnapshot {
        try DocumentSnapshot(firestore: json, in: ConformanceCase.database)
    }

    /// What the files say of a document: everything but where it comes from.
    private struct Shown: Equatable {
        let path: StoragePath
        let data: DocumentData?
        let createTime: Timestamp?
        let updateTime: Timestamp?

        init(_ document: DocumentSnapshot) {
            path = document.path
            data = document.data
            createTime = document.createTime
            updateTime = document.updateTime
        }
    }

    /// Plays the server, whose messages are about target 1, and keeps what the listener gets.
    private struct Listener {
        private let machine: SyncMachine
        private(set) var seen: [Seen] = []
        private(set) var hasFailed = false
        /// The engine's own name for target 1.
        private var target = 0
        private var readTime: Timestamp?

        init(_ machine: SyncMachine) { self.machine = machine }

        mutating func take(_ actions: [SyncAction]) {
            for action in actions {
                switch action {
                case .snapshot(_, let snapshot): seen.append(Seen(snapshot: snapshot, readTime: readTime))
                case .listenFailed: hasFailed = true
                case .openWatch: take(machine.handle(.watchOpened))
                case .sendWatch(.add(let watched)) where watched.purpose == .listen:
                    target = watched.id
                    take(machine.handle(.watched(.added([watched.id]))))
                default: break
                }
            }
        }

        mutating func take(_ response: FirestoreListenResponse) {
            guard let event = event(response) else { return }
            if case .snapshot(let version, _) = event { readTime = version }
            take(machine.handle(.watched(event)))
        }

        private func own(_ ids: [Int]) -> [Int] { ids.map { $0 == 1 ? target : $0 } }

        private func event(_ response: FirestoreListenResponse) -> WatchEvent? {
            switch response {
            case .targetChange(let change):
                let ids = own(change.targetIDs)
                switch change.kind {
                case .add: return .added(ids, token: change.resumeToken)
                case .remove:
                    return .removed(ids, cause: change.cause.map { StorageError(.unknown, $0.message) })
                case .current: return .current(ids, token: change.resumeToken)
                case .reset: return .reset(ids, token: change.resumeToken)
                case .noChange:
                    guard ids.isEmpty, let time = change.readTime else { return .token(ids, token: change.resumeToken) }
                    return .snapshot(version: time, token: change.resumeToken)
                }
            case .documentChange(let document, let targets, let removed):
                return .changed(document, targets: own(targets), removedFrom: own(removed))
            case .documentDelete(let path, let time, let removed):
                // The files leave out the target and the time.
                return .deleted(path, version: time ?? .never, removedFrom: removed.isEmpty ? [target] : own(removed))
            case .documentRemove(let path, _, let removed): return .left(path, removedFrom: own(removed))
            case .existenceFilter(let filter): return .filter(target: target, count: filter.count)
            }
        }
    }
}

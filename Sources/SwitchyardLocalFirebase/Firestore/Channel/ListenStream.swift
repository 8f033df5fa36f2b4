import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import Synchronization

/// The stream of changes: sends the current documents when a target is added, and from then on only changes.
///
/// Locks are taken in one order: the database's, this stream's, the session's.
final class ListenStream: ChannelStream {
    private typealias TargetChange = FirestoreListenResponse.TargetChange

    private let database: LocalDatabase
    private weak let session: ChannelSession?
    private let caller: LocalCaller
    private let rules: LocalRules
    private let faults: StreamFaults
    /// Whether it is told of changes even while streams are deaf.
    private let isExempt: Bool
    private let targets = Mutex<[Int: ListenTarget]>([:])
    private let registration = Mutex<Int?>(nil)

    init(
        _ database: LocalDatabase, _ session: ChannelSession, _ caller: LocalCaller, _ rules: LocalRules,
        _ faults: StreamFaults, isExempt: Bool = false
    ) {
        self.isExempt = isExempt
        self.database = database
        self.session = session
        self.caller = caller
        self.rules = rules
        self.faults = faults
        let id = database.add(self)
        registration.withLock { $0 = id }
    }

    func end() {
        let id = registration.withLock { id in
            defer { id = nil }
            return id
        }
        if let id { database.removeListener(id) }
        targets.withLock { $0 = [:] }
    }

    func receive(_ message: JSON) {
        do throws(FirestoreFailure) {
            if let target = message["addTarget"] {
                if let request = try read(target) { try add(request) }
            } else if let id = message["removeTarget"]?.int {
                remove(id)
            } else {
                throw .invalid("A request adds a target or removes one.")
            }
        } catch {
            session?.send([[error.body]])
        }
    }

    // MARK: Targets

    /// - Returns: `nil` for a target that cannot be served. Only this target is refused: if the stream ended, clients would
    ///   retry immediately and forever.
    private func read(_ target: JSON) throws(FirestoreFailure) -> ListenTarget.Request? {
        do throws(FirestoreFailure) {
            return try ListenTarget.Request(target, in: database.name)
        } catch {
            guard let id = target["targetId"]?.int, id > 0, targets.withLock({ $0[id] == nil }) else { throw error }
            send([
                .targetChange(TargetChange(.add, targetIDs: [id])),
                .targetChange(TargetChange(.remove, targetIDs: [id], cause: error)),
            ])
            return nil
        }
    }

    private func add(_ request: ListenTarget.Request) throws(FirestoreFailure) {
        guard targets.withLock({ $0[request.id] == nil }) else {
            throw FirestoreFailure(.unknown, "The target \(request.id) is there already.")
        }
        database.show { documents -> ListenTarget? in
            guard isAllowed(request.wanted, documents) else { return nil }
            return switch request.wanted {
            case .query(let query): ListenTarget(query, documents)
            case .documents(let paths): ListenTarget.documents(paths)
            }
        } _: { target, documents, time in
            var answers: [FirestoreListenResponse] = [.targetChange(TargetChange(.add, targetIDs: [request.id]))]
            if let target {
                answers += first(of: target, request, documents, time)
                if request.isOnce {
                    answers.append(.targetChange(TargetChange(.remove, targetIDs: [request.id])))
                } else {
                    targets.withLock { $0[request.id] = target }
                }
            } else {
                answers.append(
                    .targetChange(TargetChange(.remove, targetIDs: [request.id], cause: .permissionDenied)))
            }
            send(answers)
        }
    }

    private func isAllowed(_ wanted: ListenTarget.Request.Wanted, _ documents: LocalDocuments) -> Bool {
        switch wanted {
        case .query(let query): rules.allow(query, of: caller, in: documents)
        case .documents(let paths):
            paths.allSatisfy { rules.allow(.read, of: caller, at: $0, data: documents[$0]?.data, in: documents) }
        }
    }

    /// The first answers for a target: everything, or what the client does not know yet.
    private func first(
        of target: ListenTarget, _ request: ListenTarget.Request, _ documents: LocalDocuments, _ time: Timestamp
    ) -> [FirestoreListenResponse] {
        var answers: [FirestoreListenResponse] = []
        let found = target.found(in: documents)
        // A time in the future was made up, or comes from a former server.
        let since = request.since.flatMap { target.canResume && $0 <= time ? $0 : nil }
        if request.since != nil, since == nil {
            answers.append(.targetChange(TargetChange(.reset, targetIDs: [request.id])))
        }
        for document in found {
            if !document.exists {
                answers.append(
                    .documentDelete(document.path, readTime: time, removedTargetIDs: [request.id]))
            } else if since.map({ document.updateTime ?? time > $0 }) ?? true {
                answers.append(.documentChange(document, targetIDs: [request.id], removedTargetIDs: []))
            }
        }
        if since != nil, case .query = target {
            // Deletions are not recorded: the client detects them by the count and the names.
            let isExpected = request.expectedCount == found.count
            let names = isExpected ? nil : NameFilter.make(found.map { database.name.resourceName(of: $0.path) })
            answers.append(
                .existenceFilter(
                    FirestoreListenResponse.ExistenceFilter(
                        targetID: request.id, count: found.count, unchangedNames: names)))
        }
        let token = ResumeToken.bytes(time)
        answers.append(
            .targetChange(TargetChange(.current, targetIDs: [request.id], resumeToken: token, readTime: time)))
        answers.append(.targetChange(TargetChange(.noChange, resumeToken: token, readTime: time)))
        return answers
    }

    private func remove(_ id: Int) {
        guard targets.withLock({ $0.removeValue(forKey: id) }) != nil else { return }
        send([.targetChange(TargetChange(.remove, targetIDs: [id]))])
    }

    // MARK: Changes

    /// Called with the database's lock held, once per commit, in order.
    func documentsChanged(_ changed: [DocumentSnapshot], in documents: LocalDocuments, at time: Timestamp) {
        if faults.isDeaf, !isExempt { return }
        var shown: [StoragePath: (document: DocumentSnapshot, targets: [Int], gone: [Int])] = [:]
        var order: [StoragePath] = []
        var lies: [FirestoreListenResponse] = []
        func note(_ document: DocumentSnapshot, _ id: Int, isGone: Bool) {
            if shown[document.path] == nil { order.append(document.path) }
            var entry = shown[document.path] ?? (document, [], [])
            if isGone { entry.gone.append(id) } else { entry.targets.append(id) }
            shown[document.path] = entry
        }
        targets.withLock { targets in
            for id in targets.keys.sorted() {
                guard let update = targets[id]?.update(changed, in: documents) else { continue }
                for document in update.shown { note(document, id, isGone: false) }
                for document in update.gone { note(document, id, isGone: true) }
                guard !update.shown.isEmpty || !update.gone.isEmpty, case .query(let view)? = targets[id],
                    let difference = faults.nextFalseCount()
                else { continue }
                lies.append(
                    .existenceFilter(
                        FirestoreListenResponse.ExistenceFilter(
                            targetID: id, count: max(0, view.documents.count.addingSaturated(difference)))))
            }
        }
        guard !order.isEmpty else { return }
        var answers: [FirestoreListenResponse] = []
        for path in order {
            guard let (document, targets, gone) = shown[path] else { continue }
            if !document.exists {
                answers.append(.documentDelete(path, readTime: time, removedTargetIDs: gone))
            } else {
                answers.append(.documentChange(document, targetIDs: targets, removedTargetIDs: gone))
            }
        }
        answers += lies
        answers.append(
            .targetChange(TargetChange(.noChange, resumeToken: ResumeToken.bytes(time), readTime: time)))
        send(answers)
    }

    private func send(_ answers: [FirestoreListenResponse]) {
        session?.send(answers.map { [$0.firestore(in: database.name)] })
    }
}

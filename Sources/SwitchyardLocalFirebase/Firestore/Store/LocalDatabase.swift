import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import Synchronization

/// One database: its documents, its listeners, and the single place where documents change.
final class LocalDatabase: Sendable {
    private struct State {
        var documents = LocalDocuments()
        /// Increases with every commit, whatever the clock shows.
        var lastCommit = Timestamp(microseconds: 0)
        var transactions: [String: LocalTransaction] = [:]
        /// When finished transactions ended: rolling back one of them is not an error, unlike an unknown one.
        var endedTransactions: [String: Timestamp] = [:]
        var listeners: [Int: ListenStream] = [:]
        var nextListener = 0

        mutating func end(_ transaction: String, at now: Timestamp) {
            guard transactions.removeValue(forKey: transaction) != nil else { return }
            endedTransactions[transaction] = now
        }
    }

    /// The state from which a call reads.
    struct View: Sendable {
        let documents: LocalDocuments
        let readTime: Timestamp
        /// The ID of the transaction that the call began, for its answer.
        var begun: String?
        fileprivate var transaction: String?
    }

    let name: FirestoreDatabase
    private let now: @Sendable () -> Timestamp
    private let journal: DocumentJournal?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - documents: The contents of the folder.
    ///   - lastCommit: The time of their last change.
    init(
        _ name: FirestoreDatabase, documents: LocalDocuments, lastCommit: Timestamp, journal: DocumentJournal?,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.name = name
        self.now = now
        self.journal = journal
        state = Mutex(State(documents: documents, lastCommit: lastCommit))
    }

    // MARK: Reading

    /// The current documents, and a time that is not before any commit so far.
    func current() -> View {
        state.withLock { state in View(documents: state.documents, readTime: readTime(&state)) }
    }

    /// The state to read, according to a call's `transaction` or `newTransaction`.
    func view(transaction: String?, new options: TransactionOptions?) throws(FirestoreFailure) -> View {
        if let options {
            let begun = begin(options)
            var view = try view(transaction: begun, new: nil)
            view.begun = begun
            return view
        }
        guard let transaction else { return current() }
        return try state.withLock { state throws(FirestoreFailure) in
            let open = try use(transaction, in: &state)
            return View(documents: open.documents, readTime: open.readTime, transaction: transaction)
        }
    }

    /// Records what a call has read in its transaction.
    func note(_ view: View, _ note: (inout LocalTransaction) -> Void) {
        guard let id = view.transaction else { return }
        state.withLock { state in
            guard var transaction = state.transactions[id] else { return }
            note(&transaction)
            state.transactions[id] = transaction
        }
    }

    private func readTime(_ state: inout State) -> Timestamp { max(now(), state.lastCommit) }

    // MARK: Transactions

    struct TransactionOptions {
        var isReadOnly = false
    }

    func begin(_ options: TransactionOptions) -> String {
        state.withLock { state in
            let now = now()
            state.transactions = state.transactions.filter { !$0.value.hasRunOut(at: now) }
            state.endedTransactions = state.endedTransactions.filter {
                now.seconds < $0.value.seconds + LocalTransaction.lifetime
            }
            let id = Base64.encode(Array("transaction-\(RandomID.make())".utf8))
            state.transactions[id] = LocalTransaction(
                isReadOnly: options.isReadOnly, documents: state.documents, readTime: readTime(&state), now: now)
            return id
        }
    }

    /// Rolls a transaction back, which may have ended already.
    func rollBack(_ id: String) throws(FirestoreFailure) {
        try state.withLock { state throws(FirestoreFailure) in
            guard state.transactions[id] != nil || state.endedTransactions[id] != nil else {
                throw LocalDatabase.noSuchTransaction
            }
            state.end(id, at: now())
        }
    }

    private static let noSuchTransaction = FirestoreFailure.invalid("Transaction is invalid or closed.")

    private func use(_ id: String, in state: inout State) throws(FirestoreFailure) -> LocalTransaction {
        let now = now()
        guard var transaction = state.transactions[id], !transaction.hasRunOut(at: now) else {
            state.end(id, at: now)
            throw LocalDatabase.noSuchTransaction
        }
        transaction.usedAt = now
        state.transactions[id] = transaction
        return transaction
    }

    // MARK: Writing

    /// Carries out all writes or none, saves the change, and then notifies listeners.
    func commit(
        _ writes: [DocumentWrite], transaction: String? = nil, by caller: LocalCaller, _ rules: LocalRules
    ) throws(FirestoreFailure) -> FirestoreWriteResults {
        try state.withLock { state throws(FirestoreFailure) in
            if let transaction {
                let open = try use(transaction, in: &state)
                state.end(transaction, at: now())
                guard !open.isReadOnly || writes.isEmpty else {
                    throw .invalid("Cannot modify entities in a read-only transaction.")
                }
                guard open.holds(in: state.documents) else {
                    throw FirestoreFailure(.aborted, "The documents that the transaction has read have changed.")
                }
            }
            let time = max(now(), Timestamp(microseconds: state.lastCommit.microseconds + 1))
            var run = CommitRun(state.documents, at: Timestamp(microseconds: time.microseconds), in: name)
            for write in writes { try run.apply(write, by: caller, rules) }
            try run.finish(writes, by: caller, rules)
            let changed = run.changed
            if !changed.isEmpty { try journal?.append(changed, at: time, in: name) }
            state.lastCommit = time
            state.documents = run.documents
            if !changed.isEmpty { publish(changed, state) }
            return FirestoreWriteResults(results: run.results, commitTime: time)
        }
    }

    /// Deletes everything and notifies listeners.
    func clear() throws(FirestoreFailure) {
        let paths = state.withLock { $0.documents.all.map(\.path) }
        _ = try commit(
            paths.map { DocumentWrite(path: $0, operation: .delete) }, by: .owner, LocalRules(isOpen: true))
    }

    /// Deletes everything at once, whatever there is, and tells listeners.
    func reset() throws(FirestoreFailure) {
        try state.withLock { state throws(FirestoreFailure) in
            let time = max(now(), Timestamp(microseconds: state.lastCommit.microseconds + 1))
            let gone = state.documents
            try journal?.forget(name, at: time)
            state.lastCommit = time
            state.documents = LocalDocuments()
            state.transactions = [:]
            // Only whoever listens needs to be told of each document.
            if !state.listeners.isEmpty { publish(gone.all.map { .missing($0.path) }, state) }
        }
    }

    private func publish(_ changed: [DocumentSnapshot], _ state: State) {
        for listener in state.listeners.values {
            listener.documentsChanged(changed, in: state.documents, at: state.lastCommit)
        }
    }

    // MARK: Listening

    func add(_ listener: ListenStream) -> Int {
        state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = listener
            return state.nextListener
        }
    }

    func removeListener(_ id: Int) { state.withLock { $0.listeners[id] = nil } }

    /// Passes the current documents to a listener with what `prepare` makes of them, which may take long: commits go on
    /// meanwhile, unless they keep coming.
    func show<Prepared>(
        preparing prepare: (LocalDocuments) -> Prepared,
        _ body: (Prepared, LocalDocuments, Timestamp) -> Void
    ) {
        for _ in 0..<Self.attempts {
            let (documents, commit) = state.withLock { ($0.documents, $0.lastCommit) }
            let prepared = prepare(documents)
            let isCurrent = state.withLock { state in
                guard state.lastCommit == commit else { return false }
                body(prepared, state.documents, readTime(&state))
                return true
            }
            if isCurrent { return }
        }
        show { documents, time in body(prepare(documents), documents, time) }
    }

    private static let attempts = 3

    /// Passes the current documents to a listener; no commit takes effect until `body` has returned.
    func show(_ body: (LocalDocuments, Timestamp) -> Void) {
        state.withLock { state in body(state.documents, readTime(&state)) }
    }
}

import Switchyard
import SwitchyardBytes

/// The writes of this run that the server has not answered: whoever waits for the answer, and whoever follows the write.
struct OpenWrites {
    typealias Answer = Promise<Result<CommitResult, StorageError>>

    private struct Entry {
        let answer = Answer()
        let progress = WriteProgress()
        let deletions: [Bool]
        /// The batch's own name, once it is queued.
        var id: String?
        /// Who waits for earlier writes that were merged into this one.
        var earlier: [Answer] = []
    }

    /// By the token of the call.
    private var entries: [Int: Entry] = [:]
    private var tokens: [String: Int] = [:]
    /// The batches of the requests in progress.
    private var underWay: Set<String> = []

    mutating func open(_ token: Int, _ writes: [DocumentWrite]) {
        entries[token] = Entry(deletions: writes.map { $0.operation == .delete })
    }

    mutating func queued(_ token: Int, as id: String) {
        guard entries[token] != nil else { return }
        entries[token]?.id = id
        tokens[id] = token
    }

    func receipt(_ token: Int) -> (id: String, answer: Answer, progress: WriteProgress)? {
        entries[token].map { ($0.id ?? "", $0.answer, $0.progress) }
    }

    mutating func finish(_ token: Int, _ result: Result<CommitResult, StorageError>) {
        guard let entry = entries.removeValue(forKey: token) else { return }
        if let id = entry.id { tokens[id] = nil }
        if let state = WriteReceipt.State(answer: result.map { $0.acknowledgement(deletions: entry.deletions) }) {
            entry.progress.note(state)
        } else {
            entry.progress.end()
        }
        for answer in entry.earlier + [entry.answer] { answer.resolve(result) }
    }

    /// - Parameter id: The batch that the write was merged into.
    mutating func supersede(_ token: Int, by id: String) {
        guard let later = tokens[id], let entry = entries.removeValue(forKey: token) else { return }
        if let id = entry.id { tokens[id] = nil }
        entries[later]?.earlier += entry.earlier + [entry.answer]
        entry.progress.note(.superseded(by: id))
    }

    /// - Parameter kept: The calls that go on waiting.
    mutating func fail(_ error: StorageError, but kept: Set<Int> = []) {
        for token in Array(entries.keys) where !kept.contains(token) { finish(token, .failure(error)) }
    }

    // MARK: Requests

    mutating func began(_ batches: [OutgoingBatch]) {
        for batch in batches {
            underWay.insert(batch.id)
            note(.sent, batch.id)
        }
    }

    mutating func ended(_ batches: [OutgoingBatch]) {
        for batch in batches { underWay.remove(batch.id) }
    }

    /// Notes which batches of a request have got no final answer, and are not being sent again already.
    func returned(_ batches: [OutgoingBatch]) {
        for batch in batches where !underWay.contains(batch.id) { note(.local, batch.id) }
    }

    private func note(_ state: WriteReceipt.State, _ id: String) {
        if let token = tokens[id] { entries[token]?.progress.note(state) }
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// A record of what is done, in a folder, from which a later run continues: `journal.jsonl`, `ids.jsonl` with the accounts that
/// have another ID, and `rejected.jsonl`.
final class MoveJournal: Sendable {
    enum Entry: Codable, Sendable {
        case move(version: Int, from: String, to: String)
        /// The parts in which a collection is copied, the same in each run.
        case ranges(collection: String, ranges: [DocumentRange])
        /// A page of a range was written. Without a place, the range is done.
        case page(collection: String, range: Int, number: Int, place: String?, documents: Int)
        case accounts(number: Int, place: String?, accounts: Int)
        case file(path: String, bytes: Int64)
    }

    struct NewID: Codable, Sendable {
        var from: String
        var to: String
    }

    struct Rejected: Codable, Sendable {
        var part: MovePart
        var subject: String
        var reason: String
    }

    /// How far a part is.
    struct Progress: Sendable {
        var pages = 0
        var place: String?
        var isDone = false
        var items = 0
    }

    /// What was done before this run.
    fileprivate struct State {
        var ranges: [String: [DocumentRange]] = [:]
        var progress: [RangeKey: Progress] = [:]
        var accounts = Progress()
        var files: Set<PathDigest> = []
        var fileBytes: Int64 = 0
        var ids: [String: String] = [:]
        var rejected: [String: Rejected] = [:]
    }

    struct RangeKey: Hashable, Sendable {
        let collection: String
        let range: Int
    }

    private let state = Mutex(State())
    private let log: AppendLog<Entry>
    private let newIDs: AppendLog<NewID>
    private let rejectionLog: AppendLog<Rejected>
    private let lock: FileLock
    static let version = 1

    /// - Throws: `.locked` while another process uses the folder; `.invalidArgument` if it belongs to another move.
    init(_ folder: URL, from: String, to: String) throws(MoveError) {
        do throws(SystemFailure) { try POSIXFile.makeFolder(folder.path) } catch {
            throw MoveError(.localStore, "The journal “\(folder.path)” cannot be created: \(error).")
        }
        do throws(FileLock.Refusal) {
            lock = try FileLock(folder.appendingPathComponent("lock").path)
        } catch {
            throw MoveError(.locked, "The journal “\(folder.path)” cannot be used: \(error.reason).")
        }
        var (found, began) = (State(), false)
        log = try AppendLog(folder.appendingPathComponent("journal.jsonl")) { entry in
            if case .move(let version, let oldFrom, let oldTo) = entry {
                guard version <= Self.version, oldFrom == from, oldTo == to else {
                    throw MoveError(
                        .invalidArgument,
                        "The journal “\(folder.path)” belongs to the move from \(oldFrom) to \(oldTo). Choose another folder."
                    )
                }
                began = true
            }
            found.add(entry)
        }
        newIDs = try AppendLog(folder.appendingPathComponent("ids.jsonl")) { found.ids[$0.from] = $0.to }
        rejectionLog = try AppendLog(folder.appendingPathComponent("rejected.jsonl")) {
            found.rejected[$0.part.rawValue + $0.subject] = $0
        }
        state.withLock { [found] in $0 = found }
        if !began { try log.append([.move(version: Self.version, from: from, to: to)]) }
    }

    /// Releases the folder for another run.
    func close() { lock.release() }

    private func note(_ entry: Entry) throws(MoveError) {
        try log.append([entry])
        state.withLock { $0.add(entry) }
    }

    // MARK: Documents

    func ranges(of collection: String) -> [DocumentRange]? { state.withLock { $0.ranges[collection] } }

    func note(_ ranges: [DocumentRange], of collection: String) throws(MoveError) {
        try note(.ranges(collection: collection, ranges: ranges))
    }

    func progress(of key: RangeKey) -> Progress { state.withLock { $0.progress[key] ?? Progress() } }

    /// - Parameter place: `nil` at the end of the range.
    func notePage(_ number: Int, of key: RangeKey, place: String?, documents: Int) throws(MoveError) {
        try note(
            .page(collection: key.collection, range: key.range, number: number, place: place, documents: documents))
    }

    var documents: Int { state.withLock { $0.progress.values.reduce(0) { $0 + $1.items } } }

    // MARK: Accounts

    var accounts: Progress { state.withLock(\.accounts) }

    func noteAccounts(_ number: Int, place: String?, count: Int, ids: [NewID]) throws(MoveError) {
        try newIDs.append(ids)
        state.withLock { state in for id in ids { state.ids[id.from] = id.to } }
        try note(.accounts(number: number, place: place, accounts: count))
    }

    /// The new IDs of accounts, by their old ones.
    var ids: [String: String] { state.withLock(\.ids) }

    // MARK: Files

    var files: (count: Int, bytes: Int64) { state.withLock { ($0.files.count, $0.fileBytes) } }
    func hasFile(_ path: String) -> Bool { state.withLock { $0.files.contains(PathDigest(path)) } }
    func noteFile(_ path: String, bytes: Int64) throws(MoveError) { try note(.file(path: path, bytes: bytes)) }

    // MARK: Rejected

    var rejected: [Rejected] {
        state.withLock { $0.rejected.values.sorted { ($0.part.rawValue, $0.subject) < ($1.part.rawValue, $1.subject) } }
    }

    func note(_ rejections: [Rejection], of part: MovePart) throws(MoveError) {
        let new = rejections.map { Rejected(part: part, subject: $0.subject, reason: $0.reason) }
            .filter { one in state.withLock { $0.rejected.updateValue(one, forKey: part.rawValue + one.subject) == nil }
            }
        try rejectionLog.append(new)
    }
}

extension MoveJournal.State {
    fileprivate mutating func add(_ entry: MoveJournal.Entry) {
        switch entry {
        case .move: break
        case .ranges(let collection, let ranges): self.ranges[collection] = ranges
        case .page(let collection, let range, let number, let place, let documents):
            progress[MoveJournal.RangeKey(collection: collection, range: range), default: .init()]
                .add(number, place, documents)
        case .accounts(let number, let place, let count): accounts.add(number, place, count)
        case .file(let path, let bytes):
            if files.insert(PathDigest(path)).inserted { fileBytes += bytes }
        }
    }
}

extension MoveJournal.Progress {
    fileprivate mutating func add(_ number: Int, _ place: String?, _ count: Int) {
        pages = number
        items += count
        if let place { self.place = place } else { isDone = true }
    }
}

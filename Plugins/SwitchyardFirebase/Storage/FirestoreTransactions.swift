import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// The documents by which it is known later what took effect.
enum Ledger {
    /// Created, never replaced: a second attempt fails here, before it could do harm.
    static func entries(_ id: String, in ledger: CollectionPath?) throws(StorageError) -> [DocumentWrite] {
        guard let ledger else { return [] }
        return [try DocumentWrite.create(ledger.document(id), ["at": .serverTime])]
    }
}

/// Optimistic: nothing is locked, and the commit checks that what was read is still so.
struct FirestoreTransaction: StorageTransactionBackend {
    let service: FirestoreService
    let ledger: CollectionPath?

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await service.documents(paths).found
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let id = RandomID.make()
        let entries = try Ledger.entries(id, in: ledger)
        let answer: FirestoreWriteResults
        do throws(StorageError) {
            answer = try await service.commit(writes + entries)
        } catch {
            guard !entries.isEmpty, error.code == .unavailable || error.code == .deadlineExceeded else { throw error }
            return try await findOut(entries, writes.count, after: error)
        }
        return WriteReceipt.Acknowledgement(
            commitTime: try answer.time(), updateTimes: answer.results.prefix(writes.count).map(\.updateTime))
    }

    /// Leaves the name of the lost commit in the ledger. Either that works, and the commit can never take effect any more;
    /// or the name is there already, because it did.
    private func findOut(
        _ entries: [DocumentWrite], _ count: Int, after loss: StorageError
    ) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        do throws(StorageError) {
            _ = try await service.commit(entries)
        } catch {
            guard error.code == .alreadyExists else { throw loss }
            let entry = try await service.documents(entries.map(\.path)).found[0]
            guard let time = entry.createTime else { throw loss }
            return WriteReceipt.Acknowledgement(
                commitTime: time, updateTimes: Array(repeating: nil, count: count))
        }
        throw StorageError(.aborted, "The commit's answer was lost.", underlying: loss)
    }
}

/// By locks on the server: others who want to write what was read wait until the end.
struct FirestoreLockingTransaction: StorageTransactionBackend {
    private let service: FirestoreService
    private let name: String

    init(_ service: FirestoreService, _ name: String) {
        self.service = service
        self.name = name
    }

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await service.documents(paths, in: name).found
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let answer = try await service.commit(writes, in: name)
        return WriteReceipt.Acknowledgement(
            commitTime: try answer.time(), updateTimes: answer.results.map(\.updateTime))
    }

    func rollBack() async {
        // Also for a caller that was cancelled: locks that stay would hold up others.
        await Task { try? await service.rollBack(name) }.value
    }
}

import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// The documents that show whether a commit took effect.
enum Ledger {
    /// These documents are created, never replaced, so a second attempt fails as a whole.
    static func entries(_ id: String, in ledger: CollectionPath?) throws(StorageError) -> [DocumentWrite] {
        guard let ledger else { return [] }
        return [try DocumentWrite.create(ledger.document(id), ["at": .serverTime])]
    }

    /// The error of a refused commit with an entry. The server does not say which write the rules forbid, but whether they let
    /// the user read the ledger.
    static func blamed(
        _ refusal: StorageError, on id: String, in ledger: CollectionPath?, _ service: FirestoreService
    ) async -> StorageError {
        guard let ledger, refusal.code == .unauthorized else { return refusal }
        let isReadable: Bool
        do throws(StorageError) {
            _ = try await service.documents([ledger.document(id)])
            isReadable = true
        } catch {
            isReadable = error.code != .unauthorized
        }
        return refusal.saying(
            isReadable
                ? "\(refusal.message) The batch also creates a document of the write ledger “\(ledger)”: if the rules allow "
                    + "the rest, add “\(rule(ledger))”."
                : "The security rules do not allow the write ledger “\(ledger)”, where each batch that must not be repeated "
                    + "creates a document. Add “\(rule(ledger))”.")
    }

    /// The error of a look-up that the rules forbid.
    static func unreadable(_ error: StorageError, _ ledger: CollectionPath) -> StorageError {
        guard error.code == .unauthorized else { return error }
        return error.saying(
            "The security rules do not allow reading the write ledger “\(ledger)”, so it is not known whether an earlier attempt "
                + "took effect. Add “\(rule(ledger))”.")
    }

    private static func rule(_ ledger: CollectionPath) -> String {
        "match /\(ledger)/{batch} { allow create, get: if request.auth != null; }"
    }
}

/// Optimistic: locks nothing, and checks at the commit that the documents read are unchanged.
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
            guard !entries.isEmpty, error.code == .unavailable || error.code == .deadlineExceeded else {
                throw await Ledger.blamed(error, on: id, in: ledger, service)
            }
            return try await findOut(entries, writes.count, after: error)
        }
        return WriteReceipt.Acknowledgement(
            commitTime: try answer.time(), updateTimes: answer.results.prefix(writes.count).map(\.updateTime))
    }

    /// Writes the ID of the lost commit to the ledger. If that works, the commit can no longer take effect; if the ID exists
    /// already, it has.
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

/// Locks on the server: others who want to write the documents read wait until the end.
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
        // Also for a cancelled caller, since remaining locks would block others.
        await Task { try? await service.rollBack(name) }.value
    }
}

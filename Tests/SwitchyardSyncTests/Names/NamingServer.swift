import Switchyard

@testable import SwitchyardSync

/// A server that makes the names of documents whose local ones begin with a minus.
extension TestBench {
    static func naming(_ policy: CachePolicy = .standard, over store: any SyncStore = MemoryStore()) throws -> TestBench
    {
        try TestBench(policy, over: store, usesTags: true) { $0.id.utf8.first == UInt8(ascii: "-") }
    }

    /// The server added a document, and returned it.
    func name(_ path: StoragePath, _ data: DocumentData, at version: Int64, isReturned: Bool = true) {
        let outcome = WriteOutcome.returned(.existing(path, data), tag: .of(data))
        var result = CommitResult(
            commitTime: Timestamp(microseconds: version), outcomes: isReturned ? [outcome] : [])
        result.added = path
        feed(.committed(result))
    }

    func refuse(_ message: String, _ code: StorageError.Code = .unauthorized) {
        feed(.writerClosed(StorageError(code, message).asRefusal(), at: Timestamp(microseconds: 9)))
    }

    /// The writes in the queue, as texts.
    var queued: [String] { get throws { try machine.queue().flatMap(\.writes).map(\.description) } }

    func data(at path: StoragePath) throws -> DocumentData? { try machine.document(at: path)?.data }
}

/// A store that is opened again, as after the end of the process.
final class ReopenedStore {
    private let folder: TemporaryFolder?
    private(set) var store: any SyncStore

    /// - Parameter isFile: Whether it is in a file, or in memory and kept.
    init(isFile: Bool) throws {
        folder = isFile ? try TemporaryFolder() : nil
        store = try folder.map { try SQLiteStore(folder: $0.url) } ?? MemoryStore()
    }

    func reopen() throws -> any SyncStore {
        guard let folder else { return store }
        store.close()
        store = try SQLiteStore(folder: folder.url)
        return store
    }
}

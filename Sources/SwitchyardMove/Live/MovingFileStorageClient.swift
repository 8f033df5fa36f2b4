public import Foundation
public import Switchyard
import SwitchyardBytes

/// A file storage client during a move: it serves from the old backend, then from the new one.
///
/// Every change is logged with the documents of a ``MovingStorageClient`` before it begins and when it has ended, and
/// ``LiveMove`` copies the file. It changes sides with that client. A file that the new side does not have yet is read from the
/// old one.
public final class MovingFileStorageClient: RoutedFileStorageClient {
    public let route: Route<any FileStorageClient>
    private let clients: Sides<any FileStorageClient>
    private let storage: MovingStorageClient
    private let board: Switchboard<any FileStorageClient>
    private let follower: Once

    public init(old: any FileStorageClient, new: any FileStorageClient, with storage: MovingStorageClient) {
        let clients = Sides<any FileStorageClient>(old: old, new: new)
        self.clients = clients
        self.storage = storage
        let board = Switchboard(to: old)
        self.board = board
        route = Route(through: board)
        let stop = storage.onChange { board.connect(to: clients[$0]) }
        follower = Once { stop() }
    }

    deinit { follower.run() }

    // MARK: Changes

    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try path.checked()
        let id = try await begin([path])
        let transfer: FileTransfer<FileMetadata>
        do throws(FileStorageError) {
            transfer = try await Routed(route).upload(source, to: path, options: options)
        } catch {
            await end([path], id)
            throw error
        }
        Task { [self] in
            for await _ in transfer.progress {}
            await end([path], id)
        }
        return transfer
    }

    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        let transfer = try await Routed(route).resumeUpload(id)
        Task { [self] in
            for await _ in transfer.progress {}
            if let file = try? await transfer.result() { await end([file.path], storage.newEntryID()) }
        }
        return transfer
    }

    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try await changing([path]) { files throws(FileStorageError) in
            try await files.updateMetadata(of: path, changes)
        }
    }

    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await changing([destination]) { files throws(FileStorageError) in
            try await files.copy(source, to: destination)
        }
    }

    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await changing([source, destination]) { files throws(FileStorageError) in
            try await files.move(source, to: destination)
        }
    }

    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try await changing([path]) { files throws(FileStorageError) in try await files.delete(path) }
    }

    private func changing<Result>(
        _ paths: [FilePath], _ body: (any FileStorageClient) async throws(FileStorageError) -> Result
    ) async throws(FileStorageError) -> Result {
        for path in paths { try path.checked() }
        let id = try await begin(paths)
        do throws(FileStorageError) {
            let result = try await body(Routed(route))
            await end(paths, id)
            return result
        } catch {
            // It may have taken effect all the same.
            await end(paths, id)
            throw error
        }
    }

    private func begin(_ paths: [FilePath]) async throws(FileStorageError) -> String {
        let id = storage.newEntryID()
        do throws(StorageError) {
            for (index, path) in paths.enumerated() {
                try await storage.logFile(path, id: "\(id)-\(index)", isOpen: true)
            }
        } catch {
            throw FileStorageError(
                error.code, "The change cannot be logged for the move: \(error.message)",
                isRetryable: error.isRetryable, retryAfter: error.retryAfter, underlying: error)
        }
        return id
    }

    /// An entry that cannot be closed is carried after an hour.
    private func end(_ paths: [FilePath], _ id: String) async {
        for (index, path) in paths.enumerated() {
            try? await storage.logFile(path, id: "\(id)-\(index)", isOpen: false)
        }
    }

    // MARK: Reading

    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try await orFromOld { files throws(FileStorageError) in
            try await files.data(at: path, range: range, limit: limit)
        }
    }

    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await orFromOld { files throws(FileStorageError) in try await files.metadata(of: path) }
    }

    private func orFromOld<Result>(
        _ body: (any FileStorageClient) async throws(FileStorageError) -> Result
    ) async throws(FileStorageError) -> Result {
        do throws(FileStorageError) {
            return try await body(Routed(route))
        } catch {
            guard error.code == .notFound, storage.serving == .new, storage.phase == .cutOver else { throw error }
            do throws(FileStorageError) { return try await body(clients.old) } catch _ { throw error }
        }
    }

    public func shutDown() async {
        follower.run()
        await clients.old.shutDown()
        await clients.new.shutDown()
    }
}

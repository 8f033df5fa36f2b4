import Foundation

/// The file storage of an ``Infrastructure``: always the chosen one. A transfer ends where it began.
struct SwitchableFileStorageClient: FileStorageClient {
    let board: Switchboard<any FileStorageClient>

    var provider: InfrastructureProvider { board.client.provider }
    var capabilities: FileStorageCapabilities { board.client.capabilities }

    func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await holding { client throws(FileStorageError) in
            try await client.upload(source, to: path, options: options)
        }
    }
    func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await holding { client throws(FileStorageError) in try await client.download(path, to: file) }
    }
    func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        // Half a file of the one and half of the other would be no file at all, so this stream does not move.
        EventStream(from: { [board] in PinnedSource(board) { $0.bytes(of: path, range: range) } })
    }
    func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try await board.run { client throws(FileStorageError) in
            try await client.data(at: path, range: range, limit: limit)
        }
    }
    func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await board.run { client throws(FileStorageError) in try await client.metadata(of: path) }
    }
    func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try await board.run { client throws(FileStorageError) in try await client.updateMetadata(of: path, changes) }
    }
    func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        try await board.run { client throws(FileStorageError) in
            try await client.list(folder, pageSize: pageSize, page: page)
        }
    }
    func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await board.run { client throws(FileStorageError) in try await client.copy(source, to: destination) }
    }
    func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await board.run { client throws(FileStorageError) in try await client.move(source, to: destination) }
    }
    func delete(_ path: FilePath) async throws(FileStorageError) {
        try await board.run { client throws(FileStorageError) in try await client.delete(path) }
    }
    func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        try await board.run { client throws(FileStorageError) in
            try await client.downloadURL(of: path, expiresIn: expiresIn)
        }
    }
    func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try await board.run { client throws(FileStorageError) in try await client.interruptedUploads() }
    }
    func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await holding { client throws(FileStorageError) in try await client.resumeUpload(id) }
    }
    func shutDown() async { await board.client.shutDown() }
    func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? board.client.unwrapped(as: type)
    }

    /// Begins a transfer and counts it as a call until it has ended.
    private func holding(
        _ begin: (any FileStorageClient) async throws(FileStorageError) -> FileTransfer<FileMetadata>
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        let (client, lease) = board.lease()
        do throws(FileStorageError) {
            let transfer = try await begin(client)
            Task { [board] in
                for await _ in transfer.progress {}
                board.release(lease)
            }
            return transfer
        } catch {
            board.release(lease)
            throw error
        }
    }
}

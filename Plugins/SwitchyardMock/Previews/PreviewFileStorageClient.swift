public import Foundation
public import Switchyard

/// A file storage client with the sample's picture, for previews.
public struct PreviewFileStorageClient: FileStorageClient {
    private let base: MockFileStorageClient

    /// - Parameter backend: Shared with the other preview clients of a screen.
    public init(_ backend: MockBackend = .sample()) { base = MockFileStorageClient(backend) }

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: FileStorageCapabilities { base.capabilities }
    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await base.upload(source, to: path, options: options)
    }
    public func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await base.download(path, to: file)
    }
    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        base.bytes(of: path, range: range)
    }
    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try await base.data(at: path, range: range, limit: limit)
    }
    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await base.metadata(of: path)
    }
    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata { try await base.updateMetadata(of: path, changes) }
    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        try await base.list(folder, pageSize: pageSize, page: page)
    }
    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await base.copy(source, to: destination)
    }
    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await base.move(source, to: destination)
    }
    public func delete(_ path: FilePath) async throws(FileStorageError) { try await base.delete(path) }
    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        try await base.downloadURL(of: path, expiresIn: expiresIn)
    }
    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try await base.interruptedUploads()
    }
    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> { try await base.resumeUpload(id) }
    public func shutDown() async { await base.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client ?? base.unwrapped(as: type) }
}

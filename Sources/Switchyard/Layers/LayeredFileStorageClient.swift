public import Foundation

/// A file storage client with a layer around each of its calls.
///
/// Repeated is what reads, and changes that end the same when they are made twice. A move or deletion is not: the second
/// time the file is gone.
public struct LayeredFileStorageClient: FileStorageClient {
    public let base: any FileStorageClient
    private let layer: any ClientLayer

    public init(_ base: any FileStorageClient, _ layer: any ClientLayer) {
        self.base = base
        self.layer = layer
    }

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: FileStorageCapabilities { base.capabilities }

    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await transfer("upload") { () throws(FileStorageError) in
            try await base.upload(source, to: path, options: options)
        }
    }
    public func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await transfer("download") { () throws(FileStorageError) in try await base.download(path, to: file) }
    }
    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await transfer("resume upload") { () throws(FileStorageError) in try await base.resumeUpload(id) }
    }

    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        layer.stream(about("bytes"), base.bytes(of: path, range: range))
    }
    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try await repeatable("data") { () throws(FileStorageError) in
            try await base.data(at: path, range: range, limit: limit)
        }
    }
    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await repeatable("metadata") { () throws(FileStorageError) in try await base.metadata(of: path) }
    }
    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try await repeatable("update metadata") { () throws(FileStorageError) in
            try await base.updateMetadata(of: path, changes)
        }
    }
    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        try await repeatable("list") { () throws(FileStorageError) in
            try await base.list(folder, pageSize: pageSize, page: page)
        }
    }
    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await once("copy") { () throws(FileStorageError) in try await base.copy(source, to: destination) }
    }
    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await once("move") { () throws(FileStorageError) in try await base.move(source, to: destination) }
    }
    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try await once("delete") { () throws(FileStorageError) in try await base.delete(path) }
    }
    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        try await repeatable("download URL") { () throws(FileStorageError) in
            try await base.downloadURL(of: path, expiresIn: expiresIn)
        }
    }
    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try await repeatable("interrupted uploads") { () throws(FileStorageError) in
            try await base.interruptedUploads()
        }
    }
    public func shutDown() async { await base.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client ?? base.unwrapped(as: type) }

    private func about(_ operation: String, isRepeatable: Bool = false) -> ClientCall {
        ClientCall(service: .files, provider: base.provider, operation: operation, isRepeatable: isRepeatable)
    }
    private func repeatable<Result>(
        _ operation: String, _ body: () async throws(FileStorageError) -> Result
    ) async throws(FileStorageError) -> Result {
        try await layer.call(about(operation, isRepeatable: true)) { () throws(FileStorageError) in try await body() }
    }
    private func once<Result>(
        _ operation: String, _ body: () async throws(FileStorageError) -> Result
    ) async throws(FileStorageError) -> Result {
        try await layer.call(about(operation)) { () throws(FileStorageError) in try await body() }
    }
    private func transfer(
        _ operation: String, _ begin: () async throws(FileStorageError) -> FileTransfer<FileMetadata>
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        let transfer = try await once(operation) { () throws(FileStorageError) in try await begin() }
        layer.began(about(operation), transfer)
        return transfer
    }
}

extension FileStorageClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> LayeredFileStorageClient { LayeredFileStorageClient(self, layer) }
    /// This client, with calls repeated that failed for a passing reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> LayeredFileStorageClient { layered(RetryLayer(policy)) }
    /// This client, with `observer` told of everything it does.
    public func observed(by observer: any InfrastructureObserver) -> LayeredFileStorageClient {
        layered(ObserveLayer(observer))
    }
}

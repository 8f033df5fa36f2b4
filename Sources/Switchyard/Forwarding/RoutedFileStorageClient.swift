public import Foundation

/// A file storage client that forwards every call along its route.
///
/// Reads and idempotent calls may be repeated. A move or deletion may not: the second time the file is gone.
public protocol RoutedFileStorageClient: FileStorageClient {
    var route: Route<any FileStorageClient> { get }
}

extension RoutedFileStorageClient {
    public var provider: InfrastructureProvider { route.client?.provider ?? .unavailable }
    public var capabilities: FileStorageCapabilities { route.client?.capabilities ?? FileStorageCapabilities() }

    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await route.begin(.file("upload", "Uploading", path)) {
            files throws(FileStorageError) in
            try await files.upload(source, to: path, options: options)
        }
    }
    public func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await route.begin(.file("download", "Downloading", path)) {
            files throws(FileStorageError) in
            try await files.download(path, to: file)
        }
    }
    /// This stream does not move to another client, since that would mix two files.
    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        route.events(try .file("bytes", "Downloading", path), isPinned: true) {
            $0.bytes(of: path, range: range)
        }
    }
    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try await route.call(.file("data", "Downloading", path, isRepeatable: true)) {
            files throws(FileStorageError) in
            try await files.data(at: path, range: range, limit: limit)
        }
    }
    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await route.call(.file("metadata", "Reading the metadata of", path, isRepeatable: true)) {
            files throws(FileStorageError) in
            try await files.metadata(of: path)
        }
    }
    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try await route.call(.file("update metadata", "Changing the metadata of", path, isRepeatable: true)) {
            files throws(FileStorageError) in
            try await files.updateMetadata(of: path, changes)
        }
    }
    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        try await route.call(.listing(folder)) {
            files throws(FileStorageError) in
            try await files.list(folder, pageSize: pageSize, page: page)
        }
    }
    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await route.call(.file("copy", "Copying", source, to: destination)) {
            files throws(FileStorageError) in
            try await files.copy(source, to: destination)
        }
    }
    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await route.call(.file("move", "Moving", source, to: destination)) {
            files throws(FileStorageError) in
            try await files.move(source, to: destination)
        }
    }
    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try await route.call(.file("delete", "Deleting", path)) {
            files throws(FileStorageError) in try await files.delete(path)
        }
    }
    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        try await route.call(.file("download URL", "Making a download URL for", path, isRepeatable: true)) {
            files throws(FileStorageError) in
            try await files.downloadURL(of: path, expiresIn: expiresIn)
        }
    }
    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try await route.call(.repeatable("interrupted uploads")) { files throws(FileStorageError) in
            try await files.interruptedUploads()
        }
    }
    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await route.begin("resume upload") { files throws(FileStorageError) in try await files.resumeUpload(id) }
    }

    public func shutDown() async { await route.client?.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? route.client?.unwrapped(as: type)
    }
}

extension Routed: FileStorageClient, RoutedFileStorageClient where Client == any FileStorageClient {}

/// A file storage client around another. Calls that it does not implement itself go to its ``base``, streams included.
public protocol FileStorageClientWrapper: RoutedFileStorageClient {
    /// The wrapped client, to which calls are forwarded. It should stay the same for as long as the wrapper lives.
    var base: any FileStorageClient { get }
}

extension FileStorageClientWrapper {
    public var route: Route<any FileStorageClient> { Route(to: base) }
}

/// Each of these checks the arguments of its call.
extension ClientOperation {
    fileprivate static func file(
        _ name: String, _ doing: String, _ path: FilePath, to destination: FilePath? = nil, isRepeatable: Bool = false
    ) throws(FileStorageError) -> ClientOperation {
        try path.checked()
        try destination?.checked()
        return ClientOperation(name, doing, path.rawValue, isRepeatable: isRepeatable)
    }
    fileprivate static func listing(_ folder: FilePath?) throws(FileStorageError) -> ClientOperation {
        .repeatable("list", folder.map { _ in "Listing" }, try folder?.checked().rawValue)
    }
}

extension FileTransfer {
    /// The same transfer, with an error that begins with the operation.
    func named(_ operation: ClientOperation) -> FileTransfer {
        FileTransfer(NamedTransfer(base: self, operation: operation))
    }
}

private struct NamedTransfer<Output: Sendable>: FileTransferControls {
    let base: FileTransfer<Output>
    let operation: ClientOperation

    func progress() -> SnapshotStream<TransferProgress, Never> { base.progress }

    func result() async throws(FileStorageError) -> Output {
        do throws(FileStorageError) {
            return try await base.result()
        } catch {
            throw error.named(operation)
        }
    }

    func pause() async { await base.pause() }
    func resume() async { await base.resume() }
    func cancel() async { await base.cancel() }
}

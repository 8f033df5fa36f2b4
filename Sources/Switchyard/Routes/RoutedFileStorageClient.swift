public import Foundation

/// A file storage client that forwards every call along its route.
///
/// Reads and idempotent calls may be repeated. A move or deletion may not: the second time the file is gone.
public protocol RoutedFileStorageClient: FileStorageClient {
    var route: any Route<any FileStorageClient> { get }
}

extension RoutedFileStorageClient {
    public var provider: InfrastructureProvider { route.client?.provider ?? .nobody }
    public var capabilities: FileStorageCapabilities { route.client?.capabilities ?? FileStorageCapabilities() }

    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try path.checked()
        return try await route.begin(ClientOperation("upload", .init("Uploading", path.rawValue))) {
            files throws(FileStorageError) in
            try await files.upload(source, to: path, options: options)
        }
    }
    public func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try path.checked()
        return try await route.begin(ClientOperation("download", .init("Downloading", path.rawValue))) {
            files throws(FileStorageError) in
            try await files.download(path, to: file)
        }
    }
    /// This stream does not move to another client, since that would mix two files.
    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        if let mistake = path.mistake { return .failing(mistake) }
        return route.events(ClientOperation("bytes", isPinned: true, .init("Downloading", path.rawValue))) {
            $0.bytes(of: path, range: range)
        }
    }
    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try path.checked()
        return try await route.call(.repeatable("data", .init("Downloading", path.rawValue))) {
            files throws(FileStorageError) in
            try await files.data(at: path, range: range, limit: limit)
        }
    }
    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try path.checked()
        return try await route.call(.repeatable("metadata", .init("Reading the metadata of", path.rawValue))) {
            files throws(FileStorageError) in
            try await files.metadata(of: path)
        }
    }
    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try path.checked()
        return try await route.call(.repeatable("update metadata", .init("Changing the metadata of", path.rawValue))) {
            files throws(FileStorageError) in
            try await files.updateMetadata(of: path, changes)
        }
    }
    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        try folder?.checked()
        return try await route.call(.repeatable("list", folder.map { .init("Listing", $0.rawValue) })) {
            files throws(FileStorageError) in
            try await files.list(folder, pageSize: pageSize, page: page)
        }
    }
    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try source.checked()
        try destination.checked()
        return try await route.call(ClientOperation("copy", .init("Copying", source.rawValue))) {
            files throws(FileStorageError) in
            try await files.copy(source, to: destination)
        }
    }
    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try source.checked()
        try destination.checked()
        return try await route.call(ClientOperation("move", .init("Moving", source.rawValue))) {
            files throws(FileStorageError) in
            try await files.move(source, to: destination)
        }
    }
    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try path.checked()
        try await route.call(ClientOperation("delete", .init("Deleting", path.rawValue))) {
            files throws(FileStorageError) in try await files.delete(path)
        }
    }
    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        try path.checked()
        return try await route.call(.repeatable("download URL", .init("Making an address for", path.rawValue))) {
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

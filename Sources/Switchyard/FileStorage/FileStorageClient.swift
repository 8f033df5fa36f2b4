public import Foundation

/// What a file storage provider can do beyond uploads, downloads, metadata, lists and deletion.
public struct FileStorageCapabilities: Sendable, Hashable {
    /// Uploads of files that can continue after the process has ended.
    public var resumableUploads = false
    public var ranges = false
    public var customMetadata = false
    public var copyAndMove = false
    /// URLs from which anyone can read, until they expire.
    public var expiringURLs = false
    /// URLs that never expire.
    public var permanentURLs = false
    /// Uploads without a known length.
    public var unboundedUploads = false
    /// The maximum size of a file, if there is one.
    public var maximumFileSize: Int64?

    public init() {}

    public static let all: FileStorageCapabilities = {
        var all = FileStorageCapabilities()
        all.resumableUploads = true
        all.ranges = true
        all.customMetadata = true
        all.copyAndMove = true
        all.expiringURLs = true
        all.permanentURLs = true
        all.unboundedUploads = true
        return all
    }()
}

/// The client for files, on any provider.
///
/// ```swift
/// let transfer = try await files.upload(.file(photo), to: "avatars/alice.jpg")
/// for await progress in transfer.progress { show(progress.fraction) }
/// let stored = try await transfer.result()
/// ```
public protocol FileStorageClient: Sendable {
    var provider: InfrastructureProvider { get }
    var capabilities: FileStorageCapabilities { get }

    /// Begins an upload, which runs in the background until its result is available.
    ///
    /// - Throws: Whatever is wrong before a byte is sent, such as `.localFile` or `.unsupported`.
    func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata>

    /// Begins a download into a file on this device. The file appears at the end, complete.
    func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata>

    /// The contents, or a range of them, chunk by chunk; no more is fetched than is consumed.
    func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError>

    /// The contents, or a range of them, in memory.
    ///
    /// - Throws: `.tooLarge` above `limit` bytes, as soon as that is known.
    func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data

    func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata
    @discardableResult
    func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata

    /// One page of the direct contents of `folder`, sorted by path.
    ///
    /// `page` is `nil` for the first, then ``FileList/nextPage``.
    func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList

    @discardableResult
    func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata
    @discardableResult
    func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata
    /// - Throws: `.notFound` if there is no such file.
    func delete(_ path: FilePath) async throws(FileStorageError)

    /// A URL from which anyone can read the file.
    ///
    /// If `expiresIn` is `nil`, it never expires.
    func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL

    /// The current user's interrupted uploads that can continue, oldest first.
    func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload]
    /// Continues an interrupted upload.
    ///
    /// - Throws: `.changed` if the file is not what it was; `.uploadExpired` if the server has forgotten it.
    func resumeUpload(_ id: InterruptedUpload.ID) async throws(FileStorageError) -> FileTransfer<FileMetadata>

    func shutDown() async
    /// The client of type `Client` in this one or in what it wraps.
    func unwrapped<Client>(as type: Client.Type) -> Client?
}

extension FileStorageClient {
    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        throw .unsupported("copying", by: provider, instead: "Download and upload the file.")
    }
    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        throw .unsupported("moving", by: provider, instead: "Copy the file and delete the old one.")
    }
    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        throw .unsupported("download addresses", by: provider, instead: "Download the file through the client.")
    }
    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] { [] }
    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        throw .unsupported("resumable uploads", by: provider, instead: "Start the upload again.")
    }
    public func shutDown() async {}
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client }
}

/// The same on every provider.
extension FileStorageClient {
    public func upload(
        _ source: UploadSource, to path: FilePath
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await upload(source, to: path, options: UploadOptions())
    }

    /// Uploads and waits.
    ///
    /// - Throws: `.unavailable` if no byte has got through for half a minute, unless ``UploadOptions/patience`` or the
    ///   provider's settings say otherwise.
    @discardableResult
    public func put(
        _ data: Data, at path: FilePath, options: UploadOptions = UploadOptions()
    ) async throws(FileStorageError) -> FileMetadata {
        var options = options
        options.isAwaited = true
        return try await upload(.data(data), to: path, options: options).result()
    }

    /// A URL from which anyone can read the file: valid for an hour where the provider has URLs that expire, else without an
    /// end.
    ///
    /// - Throws: `.unsupported` if the provider has neither; see ``FileStorageCapabilities``.
    public func downloadURL(of path: FilePath) async throws(FileStorageError) -> URL {
        try await downloadURL(of: path, expiresIn: capabilities.expiringURLs ? .seconds(3600) : nil)
    }

    /// The whole contents in memory.
    public func data(at path: FilePath, limit: Int = 64 << 20) async throws(FileStorageError) -> Data {
        try await data(at: path, range: nil, limit: limit)
    }
    public func bytes(of path: FilePath) -> EventStream<Data, FileStorageError> { bytes(of: path, range: nil) }
    public func list(_ folder: FilePath? = nil) async throws(FileStorageError) -> FileList {
        try await list(folder, pageSize: 100, page: nil)
    }
}

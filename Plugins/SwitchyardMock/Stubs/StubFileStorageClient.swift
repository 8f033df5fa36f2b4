public import Foundation
public import Switchyard

/// A file storage client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let files = StubFileStorageClient(data: { _, _, _ in Data("Hello".utf8) })
/// ```
public struct StubFileStorageClient: FileStorageClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var upload:
            (@Sendable (UploadSource, FilePath, UploadOptions) async throws -> FileTransfer<FileMetadata>)?
        public var download: (@Sendable (FilePath, URL) async throws -> FileTransfer<FileMetadata>)?
        public var bytes: (@Sendable (FilePath, Range<Int64>?) -> EventStream<Data, FileStorageError>)?
        public var data: (@Sendable (FilePath, Range<Int64>?, Int) async throws -> Data)?
        public var metadata: (@Sendable (FilePath) async throws -> FileMetadata)?
        public var updateMetadata: (@Sendable (FilePath, FileMetadataChanges) async throws -> FileMetadata)?
        public var list: (@Sendable (FilePath?, Int, String?) async throws -> FileList)?
        public var copy: (@Sendable (FilePath, FilePath) async throws -> FileMetadata)?
        public var move: (@Sendable (FilePath, FilePath) async throws -> FileMetadata)?
        public var delete: (@Sendable (FilePath) async throws -> Void)?
        public var downloadURL: (@Sendable (FilePath, Duration?) async throws -> URL)?
        public var interruptedUploads: (@Sendable () async throws -> [InterruptedUpload])?
        public var resumeUpload: (@Sendable (InterruptedUpload.ID) async throws -> FileTransfer<FileMetadata>)?
    }

    public var calls = Calls()
    private let base: any FileStorageClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(over base: any FileStorageClient = UnsetClients.stubs.files, _ set: (inout Calls) -> Void = { _ in }) {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        upload: (@Sendable (UploadSource, FilePath, UploadOptions) async throws -> FileTransfer<FileMetadata>)? = nil,
        download: (@Sendable (FilePath, URL) async throws -> FileTransfer<FileMetadata>)? = nil,
        bytes: (@Sendable (FilePath, Range<Int64>?) -> EventStream<Data, FileStorageError>)? = nil,
        data: (@Sendable (FilePath, Range<Int64>?, Int) async throws -> Data)? = nil,
        metadata: (@Sendable (FilePath) async throws -> FileMetadata)? = nil,
        updateMetadata: (@Sendable (FilePath, FileMetadataChanges) async throws -> FileMetadata)? = nil,
        list: (@Sendable (FilePath?, Int, String?) async throws -> FileList)? = nil,
        copy: (@Sendable (FilePath, FilePath) async throws -> FileMetadata)? = nil,
        move: (@Sendable (FilePath, FilePath) async throws -> FileMetadata)? = nil,
        delete: (@Sendable (FilePath) async throws -> Void)? = nil,
        downloadURL: (@Sendable (FilePath, Duration?) async throws -> URL)? = nil,
        interruptedUploads: (@Sendable () async throws -> [InterruptedUpload])? = nil,
        resumeUpload: (@Sendable (InterruptedUpload.ID) async throws -> FileTransfer<FileMetadata>)? = nil
    ) {
        self.init {
            $0.upload = upload
            $0.download = download
            $0.bytes = bytes
            $0.data = data
            $0.metadata = metadata
            $0.updateMetadata = updateMetadata
            $0.list = list
            $0.copy = copy
            $0.move = move
            $0.delete = delete
            $0.downloadURL = downloadURL
            $0.interruptedUploads = interruptedUploads
            $0.resumeUpload = resumeUpload
        }
    }

    // MARK: Requirements

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: FileStorageCapabilities { base.capabilities }
    public func upload(_ source: UploadSource, to path: FilePath, options: UploadOptions) async throws(FileStorageError)
        -> FileTransfer<FileMetadata>
    {
        try await stubbed(FileStorageError.self) { try await (calls.upload ?? base.upload)(source, path, options) }
    }
    public func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await stubbed(FileStorageError.self) { try await (calls.download ?? base.download)(path, file) }
    }
    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        (calls.bytes ?? base.bytes)(path, range)
    }
    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try await stubbed(FileStorageError.self) { try await (calls.data ?? base.data)(path, range, limit) }
    }
    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await stubbed(FileStorageError.self) { try await (calls.metadata ?? base.metadata)(path) }
    }
    @discardableResult
    public func updateMetadata(of path: FilePath, _ changes: FileMetadataChanges) async throws(FileStorageError)
        -> FileMetadata
    {
        try await stubbed(FileStorageError.self) {
            try await (calls.updateMetadata ?? base.updateMetadata)(path, changes)
        }
    }
    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        try await stubbed(FileStorageError.self) { try await (calls.list ?? base.list)(folder, pageSize, page) }
    }
    @discardableResult
    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await stubbed(FileStorageError.self) { try await (calls.copy ?? base.copy)(source, destination) }
    }
    @discardableResult
    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await stubbed(FileStorageError.self) { try await (calls.move ?? base.move)(source, destination) }
    }
    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try await stubbed(FileStorageError.self) { try await (calls.delete ?? base.delete)(path) }
    }
    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        try await stubbed(FileStorageError.self) { try await (calls.downloadURL ?? base.downloadURL)(path, expiresIn) }
    }
    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try await stubbed(FileStorageError.self) { try await (calls.interruptedUploads ?? base.interruptedUploads)() }
    }
    public func resumeUpload(_ id: InterruptedUpload.ID) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try await stubbed(FileStorageError.self) { try await (calls.resumeUpload ?? base.resumeUpload)(id) }
    }
    public func shutDown() async {
        await base.shutDown()
    }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        base.unwrapped(as: type)
    }
}

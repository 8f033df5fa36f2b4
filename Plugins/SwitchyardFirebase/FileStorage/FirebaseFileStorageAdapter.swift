public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// Files in a bucket of Firebase, through the API of Firebase's own clients, so that security rules apply.
///
/// Contents up to 256 KiB are sent in one request. Larger uploads are sent in parts, can be paused, and can continue after the
/// process has ended if there is a state folder. Downloads continue after lost connections. All contents are compared with the
/// server's checksums.
///
/// Not supported: copying (download and upload instead) and expiring addresses (an address is valid until the file is replaced
/// or deleted, for everyone who has it). The server cannot refuse to replace a file either: `replacesExisting` checks before
/// the upload, so two clients that upload at the same time can both find no file. A rule with `resource == null` closes this
/// gap.
///
/// A list contains the sizes and types of files, which takes one request per file, so a longer page takes longer to load.
public final class FirebaseFileStorageAdapter: FileStorageClient {
    public let provider: InfrastructureProvider = .firebase
    public let capabilities: FileStorageCapabilities

    private let service: FirebaseFileService
    private let manager: TransferManager
    private let sharesTransport: Bool

    /// - Parameters:
    ///   - folder: Where resumable uploads are recorded; `nil` to record none.
    ///   - session: Its users may have their local data wiped.
    ///   - sharesTransport: Whether others use the transport, too, so that it must not be shut down with this client.
    init(
        _ service: FirebaseFileService, folder: URL?, session: SessionFeed? = nil, sharesTransport: Bool = false
    ) {
        self.service = service
        self.sharesTransport = sharesTransport
        manager = TransferManager(
            FirebaseUploadDriver.policy, records: UploadRecords(folder: folder), tries: service.persistently,
            now: service.now, following: session)
        var capabilities = FileStorageCapabilities()
        capabilities.resumableUploads = folder != nil
        capabilities.ranges = true
        capabilities.customMetadata = true
        capabilities.permanentURLs = true
        capabilities.unboundedUploads = true
        self.capabilities = capabilities
    }

    /// - Throws: `.invalidConfiguration` without a bucket.
    convenience init(_ context: FirebaseContext) throws(InfrastructureError) {
        let service = try FirebaseFileService(context, tokens: context.tokens.ofPeople)
        let folder = try context.folder("files")?.appendingPathComponent(
            PercentCoding.encode(service.bucket), isDirectory: true)
        self.init(service, folder: folder, session: context.module.session)
    }

    // MARK: Transfers

    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try manager.checkOpen()
        try path.checked()
        let content = try UploadContent(source)
        let service = try await service.bound()
        let driver = FirebaseUploadDriver(service, to: path, options)
        return try manager.upload(content, to: path, options, of: service.owner, driver: driver)
    }

    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try manager.interruptedUploads(of: try await service.bound().owner)
    }

    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        guard capabilities.resumableUploads else {
            throw .unsupported("resumable uploads", by: provider, instead: "Give the app a state folder.")
        }
        let service = try await service.bound()
        return try manager.resume(id, of: service.owner) { record in
            FirebaseUploadDriver(
                service, to: FilePath(unchecked: record.path), record.options.uploadOptions)
        }
    }

    public func download(
        _ path: FilePath, to file: URL
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try manager.checkOpen()
        try path.checked()
        let service = try await service.bound()
        return try manager.download(path, to: file, driver: FirebaseDownloadDriver(service: service)) {
            () async throws(FileStorageError) in try await service.object(path).stored
        }
    }

    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        manager.bytes(of: path, range: range) { [service] () async throws(FileStorageError) in
            FirebaseDownloadDriver(service: try await service.bound())
        }
    }

    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try manager.checkOpen()
        try path.checked()
        return try await manager.data(
            at: path, range: range, limit: limit, driver: FirebaseDownloadDriver(service: try await service.bound()))
    }

    // MARK: Files

    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try manager.checkOpen()
        try path.checked()
        return try await service.bound().object(path).stored.metadata
    }

    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try manager.checkOpen()
        try path.checked()
        let request = FirebaseFileService.json(.patch, service.address(of: path), changes.firebase)
        let service = try await service.bound()
        return try await service.persistently("metadata change") { () throws(FileStorageError) in
            try FirebaseObject(try await service.call(request, about: .object).body).stored.metadata
        }
    }

    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try manager.checkOpen()
        try path.checked()
        // The service must not repeat this call itself: if an answer was lost, the file may be gone, and the retry finds none.
        let request = HTTPRequest(.delete, service.address(of: path), isIdempotent: false)
        let service = try await service.bound()
        try await service.persistently("delete", isDone: { $0.code == .notFound ? () : nil }) {
            () throws(FileStorageError) in
            _ = try await service.call(request, about: .object)
        }
    }

    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        guard expiresIn == nil else {
            throw .unsupported(
                "addresses that expire", by: provider,
                instead: "Ask for one without an end, and replace the file to end it.")
        }
        try manager.checkOpen()
        try path.checked()
        guard let token = try await service.bound().object(path).downloadTokens.first else {
            throw FileStorageError(
                .noDownloadURL, "The file has no download token; make one in the console, or upload it again.")
        }
        guard let url = URL(string: service.address(of: path, ["alt": "media", "token": token])) else {
            throw FileStorageError(.invalidArgument, "The path cannot be written as a URL.")
        }
        return url
    }

    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        guard (1...1000).contains(pageSize) else {
            throw FileStorageError(.invalidArgument, "A page has 1 to 1000 entries, not \(pageSize).")
        }
        try manager.checkOpen()
        try folder?.checked()
        return try await FirebaseFileLister(service: service.bound(), folder: folder, pageSize: pageSize).page(page)
    }

    public func shutDown() async {
        await manager.shutDown()
        if !sharesTransport { await service.transport.shutDown() }
    }
}

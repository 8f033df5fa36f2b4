public import Foundation
public import Switchyard
import SwitchyardProviderKit

extension MockFileStorageClient {
    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try manager.checkOpen()
        try path.checked()
        try checkCustom(!options.custom.isEmpty)
        let content = try UploadContent(source)
        if case .stream(nil, _) = source, !capabilities.unboundedUploads {
            throw .unsupported("uploads of unknown length", by: provider, instead: "Say how long it is.")
        }
        if let most = capabilities.maximumFileSize, let total = content.length, total > most {
            throw FileStorageError(.tooLarge, "A file can have at most \(most) bytes.")
        }
        let owner = try await owner()
        return try manager.upload(content, to: path, options, of: owner, driver: driver(to: path, options, of: owner))
    }

    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try manager.interruptedUploads(of: try await owner())
    }

    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        guard capabilities.resumableUploads else {
            throw .unsupported("resumable uploads", by: provider, instead: "Start the upload again.")
        }
        let owner = try await owner()
        return try manager.resume(id, of: owner) { record in
            driver(to: FilePath(unchecked: record.path), record.options.uploadOptions, of: owner)
        }
    }

    private func driver(to path: FilePath, _ options: UploadOptions, of owner: String) -> MockUploadDriver {
        MockUploadDriver(
            server, controls, to: path, options, owner: owner, limit: capabilities.maximumFileSize)
    }

    public func download(
        _ path: FilePath, to file: URL
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try manager.download(path, to: file, driver: downloads) {
            [server, controls] () async throws(FileStorageError) in
            try await controls.reach()
            return StoredFile(try server.stored(path).metadata)
        }
    }

    var downloads: MockDownloadDriver { MockDownloadDriver(server: server, controls: controls, partSize: partSize) }
}

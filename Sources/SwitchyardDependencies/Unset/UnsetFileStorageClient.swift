import Foundation
import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetFileStorageClient: FileStorageClient {
    var provider: InfrastructureProvider { "unset" }
    var capabilities: FileStorageCapabilities { FileStorageCapabilities() }
    func upload(_ source: UploadSource, to path: FilePath, options: UploadOptions) async throws(FileStorageError)
        -> FileTransfer<FileMetadata>
    { throw .unset("upload") }
    func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        throw .unset("download")
    }
    func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        .failing(.unset("bytes"))
    }
    func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        throw .unset("data")
    }
    func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata { throw .unset("metadata") }
    func updateMetadata(of path: FilePath, _ changes: FileMetadataChanges) async throws(FileStorageError)
        -> FileMetadata
    { throw .unset("updateMetadata") }
    func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        throw .unset("list")
    }
    func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        throw .unset("copy")
    }
    func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        throw .unset("move")
    }
    func delete(_ path: FilePath) async throws(FileStorageError) { throw .unset("delete") }
    func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        throw .unset("downloadURL")
    }
    func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        throw .unset("interruptedUploads")
    }
    func resumeUpload(_ id: InterruptedUpload.ID) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        throw .unset("resumeUpload")
    }
}

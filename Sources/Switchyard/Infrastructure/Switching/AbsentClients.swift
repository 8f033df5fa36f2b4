import Foundation

/// Stands where no client was chosen, and before the first ones are there.
struct AbsentClients: Sendable {
    static let provider: InfrastructureProvider = "none"

    static func refusal(_ service: InfrastructureService) -> String {
        "There is no client for \(service.rawValue); choose a provider for it."
    }
}

struct AbsentFileStorageClient: FileStorageClient {
    var provider: InfrastructureProvider { AbsentClients.provider }
    var capabilities: FileStorageCapabilities { FileStorageCapabilities() }
    private var refusal: FileStorageError { FileStorageError(.unsupported, AbsentClients.refusal(.files)) }

    func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> { throw refusal }
    func download(_ path: FilePath, to file: URL) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        throw refusal
    }
    func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        .failing(refusal)
    }
    func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        throw refusal
    }
    func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata { throw refusal }
    func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata { throw refusal }
    func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        throw refusal
    }
    func delete(_ path: FilePath) async throws(FileStorageError) { throw refusal }
}

struct AbsentMessagingClient: MessagingClient {
    var provider: InfrastructureProvider { AbsentClients.provider }
    var capabilities: MessagingCapabilities { MessagingCapabilities() }
    var permission: MessagingPermission { .undetermined }
    private var refusal: MessagingError { MessagingError(.unsupported, AbsentClients.refusal(.messaging)) }

    func requestPermission() async throws(MessagingError) -> MessagingPermission { throw refusal }
    func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) { throw refusal }
    func token() async throws(MessagingError) -> MessagingToken { throw refusal }
    func deleteToken() async throws(MessagingError) { throw refusal }
    func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        .failing(refusal)
    }
    func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        .failing(refusal)
    }
    func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? { throw refusal }
}

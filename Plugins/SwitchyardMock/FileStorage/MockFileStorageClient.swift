public import Foundation
public import Switchyard
import SwitchyardProviderKit

/// Files in memory, in the ``MockFiles`` of a backend.
///
/// They are transferred in parts, so that progress, pauses and interruptions are visible.
///
/// Transfers use the same engine as every provider, but without retries, so that the app under test sees each scripted failure.
/// A file upload that failed temporarily can be resumed.
public final class MockFileStorageClient: FileStorageClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: FileStorageCapabilities
    /// Scripts and records the calls of this client.
    public let controls: MockControls<FileStorageError>

    private let backend: MockBackend
    var server: MockFiles { backend.files }
    let manager: TransferManager
    let partSize: Int
    private let tenant: MockBackendLease?
    /// Determines whose uploads are recorded; `nil` for a client without a user.
    private let session: SessionFeed?

    /// - Parameters:
    ///   - backend: The project; a new one without files by default.
    ///   - network: The device's connection, shared with its other clients.
    ///   - store: The device's records of interrupted uploads.
    ///   - capabilities: The capabilities; reduce them to test an app with a provider that has fewer.
    ///   - partSize: The number of bytes transferred at once.
    public convenience init(
        _ backend: MockBackend = MockBackend(), network: MockNetwork = MockNetwork(),
        store: MockUploadStore = MockUploadStore(), capabilities: FileStorageCapabilities = .all,
        partSize: Int = 256 << 10
    ) {
        self.init(
            backend, network: network, store: store, capabilities: capabilities, partSize: partSize, tenant: nil)
    }

    init(
        _ backend: MockBackend, network: MockNetwork, store: MockUploadStore,
        capabilities: FileStorageCapabilities = .all, partSize: Int = 256 << 10, tenant: MockBackendLease?,
        session: SessionFeed? = nil
    ) {
        self.backend = backend
        self.tenant = tenant
        self.session = session
        self.capabilities = capabilities
        self.partSize = max(1, partSize)
        let part = Int64(self.partSize)
        let policy = TransferPolicy(firstPart: part, largestPart: part, wholeLimit: 0)
        manager = TransferManager(
            policy, records: capabilities.resumableUploads ? store.records : UploadRecords(folder: nil),
            tries: RetryingCaller(clock: network.clock, patience: .zero), now: backend.files.now, following: session)
        controls = MockControls(
            network: network, unavailable: FileStorageError(.unavailable, "The mock's network is off."),
            cancelled: FileStorageError(.cancelled, "The call was cancelled."))
    }

    // MARK: Contents

    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        manager.bytes(of: path, range: range) { [self] () async throws(FileStorageError) in
            try checkRange(range)
            try await controls.reach()
            return downloads
        }
    }

    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try path.checked()
        try checkRange(range)
        if let scripted = try await enter(.data, path.rawValue) { return scripted }
        let driver = MockDownloadDriver(server: server, controls: nil, partSize: .max)
        return try await manager.data(at: path, range: range, limit: limit, driver: driver)
    }

    private func checkRange(_ range: Range<Int64>?) throws(FileStorageError) {
        guard range == nil || capabilities.ranges else {
            throw .unsupported("ranges", by: provider, instead: "Download the whole file.")
        }
    }

    // MARK: Files

    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try path.checked()
        if let scripted = try await enter(.metadata, path.rawValue) { return scripted }
        return try server.stored(path).metadata
    }

    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try path.checked()
        try checkCustom(!changes.custom.isEmpty)
        if let scripted = try await enter(.updateMetadata, path.rawValue) { return scripted }
        let metadata = try server.update(path, changes)
        try controls.leave()
        return metadata
    }

    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        guard (1...1000).contains(pageSize) else {
            throw FileStorageError(.invalidArgument, "A page has 1 to 1000 entries, not \(pageSize).")
        }
        try folder?.checked()
        if let scripted = try await enter(.list, folder?.rawValue ?? "") { return scripted }
        return server.list(folder, pageSize: pageSize, page: page)
    }

    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await relocate(.copy, source, destination, removesSource: false)
    }

    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try await relocate(.move, source, destination, removesSource: true)
    }

    private func relocate(
        _ operation: MockOperation<FileMetadata, FileStorageError>, _ source: FilePath, _ destination: FilePath,
        removesSource: Bool
    ) async throws(FileStorageError) -> FileMetadata {
        guard capabilities.copyAndMove else {
            throw .unsupported(operation.name, by: provider, instead: "Download and upload the file.")
        }
        try source.checked()
        try destination.checked()
        if let scripted = try await enter(operation, "\(source) to \(destination)") { return scripted }
        let metadata = try server.copy(source, to: destination, removesSource: removesSource)
        try controls.leave()
        return metadata
    }

    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try path.checked()
        if try await enter(.delete, path.rawValue) != nil { return }
        try server.delete(path)
        try controls.leave()
    }

    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        guard expiresIn == nil ? capabilities.permanentURLs : capabilities.expiringURLs else {
            throw .unsupported("download addresses", by: provider, instead: "Download the file through the client.")
        }
        guard expiresIn.map({ $0 > .zero }) ?? true else {
            throw FileStorageError(
                .invalidArgument, "A URL must be valid for at least some time. Pass a positive duration.")
        }
        try path.checked()
        if let scripted = try await enter(.downloadURL, path.rawValue) { return scripted }
        return try server.address(of: path, expiresIn: expiresIn)
    }

    private func enter<Answer>(
        _ operation: MockOperation<Answer, FileStorageError>, _ subject: String
    ) async throws(FileStorageError) -> Answer? {
        try manager.checkOpen()
        return try await controls.enter(operation, subject, needsNetwork: true)
    }

    func checkCustom(_ hasCustom: Bool) throws(FileStorageError) {
        guard capabilities.customMetadata || !hasCustom else {
            throw .unsupported("notes on files", by: provider, instead: "Keep them in a document.")
        }
    }

    // MARK: Lifecycle

    /// - Throws: `.unauthenticated` (retryable) while the user is unknown.
    func owner() async throws(FileStorageError) -> String {
        guard let session else { return UploadSession.noUser }
        let state = await session.session.state
        if state == .unknown || state == .locked {
            throw FileStorageError(
                .unauthenticated,
                "The session cannot be read while the device is locked. Try again once it is unlocked.",
                isRetryable: true)
        }
        return state.user?.id ?? UploadSession.noUser
    }

    public func shutDown() async {
        await manager.shutDown()
        tenant?.leave()
    }
}

public import Foundation
public import Switchyard
import Synchronization

/// Files in memory, against the ``MockFiles`` of a backend, moved in parts so that progress, pauses and interruptions can
/// be seen.
public final class MockFileStorageClient: FileStorageClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: FileStorageCapabilities
    /// The test's hand on this client.
    public let controls: MockControls<FileStorageError>

    private let backend: MockBackend
    var server: MockFiles { backend.files }
    let store: MockUploadStore
    let partSize: Int
    private let tenant: MockTenant?
    private let running = Mutex<(ids: Set<String>, transfers: [ObjectIdentifier: MockTransfer], isShutDown: Bool)>(
        ([], [:], false))

    /// - Parameters:
    ///   - backend: The project; a new one without files by default.
    ///   - network: The device's connection, shared with its other clients.
    ///   - store: Where the device notes its interrupted uploads.
    ///   - capabilities: Fewer than everything, to see how an app does with a provider that has less.
    ///   - partSize: How many bytes move at once.
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
        capabilities: FileStorageCapabilities = .all, partSize: Int = 256 << 10, tenant: MockTenant?
    ) {
        self.backend = backend
        self.tenant = tenant
        self.store = store
        self.capabilities = capabilities
        self.partSize = max(1, partSize)
        controls = MockControls(
            network: network, unavailable: FileStorageError(.unavailable, "The mock's network is off."),
            cancelled: FileStorageError(.cancelled, "The call was cancelled."))
    }

    // MARK: Contents

    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        EventStream { [self] continuation in
            let task = Task { [self] in
                do throws(FileStorageError) {
                    let contents = try await whole(path, range)
                    var start = contents.startIndex
                    while start < contents.endIndex {
                        let end = min(start + partSize, contents.endIndex)
                        if !controls.isQuiet {
                            _ = try await controls.enter(.downloadPart, path.rawValue, needsNetwork: true)
                        }
                        guard continuation.yield(contents[start..<end]) else { return }
                        start = end
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            return { task.cancel() }
        }
    }

    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        if let scripted = try await enter(.data, path.rawValue) { return scripted }
        let contents = try cut(try server.stored(path), range)
        guard contents.count <= limit else {
            throw FileStorageError(.tooLarge, "The file has more than the \(limit) bytes that were asked for at most.")
        }
        return contents
    }

    private func whole(_ path: FilePath, _ range: Range<Int64>?) async throws(FileStorageError) -> Data {
        try checkOpen()
        if !controls.network.isOnline { throw FileStorageError(.unavailable, "The mock's network is off.") }
        return try cut(try server.stored(path), range)
    }

    private func cut(_ stored: MockFiles.Stored, _ range: Range<Int64>?) throws(FileStorageError) -> Data {
        guard let range else { return stored.contents }
        guard capabilities.ranges else {
            throw .unsupported("ranges", by: provider, instead: "Download the whole file.")
        }
        let size = Int64(stored.contents.count)
        guard range.lowerBound >= 0, range.lowerBound < size || (range.isEmpty && range.lowerBound == size) else {
            throw FileStorageError(.rangeNotSatisfiable, "The range lies outside of the file.")
        }
        let start = stored.contents.startIndex
        return stored.contents[
            start + Int(range.lowerBound)..<start + Int(min(range.upperBound, size))]
    }

    // MARK: Files

    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        if let scripted = try await enter(.metadata, path.rawValue) { return scripted }
        return try server.stored(path).metadata
    }

    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
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
        if let scripted = try await enter(operation, "\(source) to \(destination)") { return scripted }
        let metadata = try server.copy(source, to: destination, removesSource: removesSource)
        try controls.leave()
        return metadata
    }

    public func delete(_ path: FilePath) async throws(FileStorageError) {
        if try await enter(.delete, path.rawValue) != nil { return }
        try server.delete(path)
        try controls.leave()
    }

    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        guard expiresIn == nil ? capabilities.permanentURLs : capabilities.expiringURLs else {
            throw .unsupported("download addresses", by: provider, instead: "Download the file through the client.")
        }
        guard expiresIn.map({ $0 > .zero }) ?? true else {
            throw FileStorageError(.invalidArgument, "An address must be good for some time.")
        }
        if let scripted = try await enter(.downloadURL, path.rawValue) { return scripted }
        return try server.address(of: path, expiresIn: expiresIn)
    }

    private func enter<Answer>(
        _ operation: MockOperation<Answer, FileStorageError>, _ subject: String
    ) async throws(FileStorageError) -> Answer? {
        try checkOpen()
        return try await controls.enter(operation, subject, needsNetwork: true)
    }

    func checkCustom(_ hasCustom: Bool) throws(FileStorageError) {
        guard capabilities.customMetadata || !hasCustom else {
            throw .unsupported("notes on files", by: provider, instead: "Keep them in a document.")
        }
    }

    // MARK: Life

    func checkOpen() throws(FileStorageError) {
        if running.withLock({ $0.isShutDown }) { throw FileStorageError(.shutDown, "The client was shut down.") }
    }

    /// Remembers a transfer until it ends, so that shutting down can stop it.
    func track(_ transfer: MockTransfer) {
        let isShutDown = running.withLock { running in
            running.transfers[ObjectIdentifier(transfer)] = transfer
            return running.isShutDown
        }
        Task {
            if isShutDown { await transfer.cancel() }
            _ = try? await transfer.result()
            running.withLock { _ = $0.transfers.removeValue(forKey: ObjectIdentifier(transfer)) }
        }
    }

    func setRunning(_ id: String, _ isRunning: Bool) {
        running.withLock { running in
            if isRunning { running.ids.insert(id) } else { running.ids.remove(id) }
        }
    }

    func isRunning(_ id: String) -> Bool { running.withLock { $0.ids.contains(id) } }
    var isShutDown: Bool { running.withLock { $0.isShutDown } }

    public func shutDown() async {
        let transfers = running.withLock { running in
            running.isShutDown = true
            return Array(running.transfers.values)
        }
        for transfer in transfers { await transfer.cancel() }
        tenant?.leave()
    }
}

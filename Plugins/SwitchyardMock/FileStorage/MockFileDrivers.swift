import Foundation
import Switchyard
import SwitchyardProviderKit
import Synchronization

/// The calls of one upload to the ``MockFiles`` of a backend.
final class MockUploadDriver: UploadDriver {
    private let server: MockFiles
    private let controls: MockControls<FileStorageError>
    private let path: FilePath
    private let options: UploadOptions
    private let owner: String
    /// The maximum size of a file in bytes.
    private let limit: Int64?
    /// The stored file, since the server forgets a completed upload, whose answer may have been lost.
    private let finished = Mutex<StoredFile?>(nil)

    init(
        _ server: MockFiles, _ controls: MockControls<FileStorageError>, to path: FilePath, _ options: UploadOptions,
        owner: String, limit: Int64?
    ) {
        self.server = server
        self.controls = controls
        self.path = path
        self.options = options
        self.owner = owner
        self.limit = limit
    }

    func begin(length: Int64?) async throws(FileStorageError) -> UploadSession {
        try await controls.reach()
        return UploadSession(address: try server.beginUpload(to: path, options), owner: owner)
    }

    func send(
        _ bytes: UploadBytes, at offset: Int64, isLast: Bool, in session: UploadSession,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> UploadAnswer {
        _ = try await controls.enter(.uploadPart, path.rawValue, needsNetwork: true)
        if let limit, offset + bytes.count > limit {
            throw FileStorageError(.tooLarge, "A file can have at most \(limit) bytes.")
        }
        guard let completed = try server.append(Data(try bytes.collected()), at: offset, to: session.address) else {
            return .displaced
        }
        guard isLast else { return .active(offset: completed) }
        let stored = StoredFile(try server.finishUpload(session.address))
        finished.withLock { $0 = stored }
        try controls.leave()
        return .finished(stored)
    }

    func state(of session: UploadSession) async throws(FileStorageError) -> UploadAnswer {
        try await controls.reach()
        if let stored = finished.withLock({ $0 }) { return .finished(stored) }
        guard let upload = server.read({ $0.uploads[session.address] }) else { throw .uploadForgotten }
        return .active(offset: Int64(upload.contents.count))
    }

    /// Stores an empty file.
    func store(
        _ bytes: UploadBytes, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> StoredFile {
        _ = try await controls.enter(.uploadPart, path.rawValue, needsNetwork: true)
        let stored = StoredFile(try server.store(Data(try bytes.collected()), at: path, options))
        try controls.leave()
        return stored
    }

    func abandon(_ session: UploadSession) async { server.abandonUpload(session.address) }
}

/// The calls of one download.
struct MockDownloadDriver: DownloadDriver {
    let server: MockFiles
    /// `nil` if the server has been reached already, so that parts are not separate calls.
    let controls: MockControls<FileStorageError>?
    let partSize: Int

    func size(of path: FilePath) async throws(FileStorageError) -> Int64 { try server.stored(path).metadata.size }

    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer {
        let stored = try server.stored(path)
        let size = Int64(stored.contents.count)
        let isWhole = request.offset == 0 && request.end == nil
        guard isWhole || request.offset < size else { throw .rangeOutside }
        let start = stored.contents.startIndex
        let wanted = stored.contents[start + Int(request.offset)..<start + Int(min(request.end ?? size, size))]
        return DownloadAnswer(
            DownloadHead(start: request.offset, total: size, version: stored.metadata.version),
            Body(wanted, path, self))
    }

    private final class Body: DownloadBody {
        private let rest: Mutex<Data>
        private let path: FilePath
        private let driver: MockDownloadDriver

        init(_ bytes: Data, _ path: FilePath, _ driver: MockDownloadDriver) {
            rest = Mutex(bytes)
            self.path = path
            self.driver = driver
        }

        func next() async throws(FileStorageError) -> [UInt8]? {
            if rest.withLock({ $0.isEmpty }) { return nil }
            _ = try await driver.controls?.enter(.downloadPart, path.rawValue, needsNetwork: true)
            let piece = rest.withLock { rest in
                let piece = rest.prefix(driver.partSize)
                rest = rest.dropFirst(piece.count)
                return piece
            }
            return piece.isEmpty ? nil : [UInt8](piece)
        }

        func cancel() { rest.withLock { $0 = Data() } }
    }
}

/// A device's records for resuming interrupted uploads: in memory, or in a folder.
public final class MockUploadStore: Sendable {
    let records: UploadRecords

    /// Creates a store in memory, which outlives clients but not the process.
    public convenience init() { self.init(UploadRecords()) }

    init(_ records: UploadRecords) { self.records = records }
}

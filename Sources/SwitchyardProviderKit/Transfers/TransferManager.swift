package import Foundation
package import Switchyard
import SwitchyardBytes
import Synchronization

/// Manages the transfers of one client: begins them, tracks those in progress, and ends them with the client.
///
/// A provider's client has one and passes it drivers; everything else about transfers is shared.
package final class TransferManager: Sendable {
    private struct State {
        var uploads: [ObjectIdentifier: UploadRun] = [:]
        var downloads: [ObjectIdentifier: DownloadRun] = [:]
        var readers: [ObjectIdentifier: WeakReader] = [:]
        var isShutDown = false
    }

    private struct WeakReader: Sendable {
        weak let reader: DownloadReader?
    }

    private let policy: TransferPolicy
    private let records: UploadRecords
    private let tries: RetryingCaller
    private let now: @Sendable () -> Timestamp
    private let state = Mutex(State())
    private let subscription = Mutex<SessionSubscription?>(nil)

    /// - Parameters:
    ///   - records: Where uploads of files are recorded; never shared by two projects.
    ///   - tries: The clocks, and the report of failed attempts.
    ///   - session: When its users request a wipe, the records of their uploads are deleted, too.
    package init(
        _ policy: TransferPolicy, records: UploadRecords, tries: RetryingCaller,
        now: @escaping @Sendable () -> Timestamp, following session: SessionFeed? = nil
    ) {
        self.policy = policy.with(patience: tries.patience)
        self.records = records
        self.tries = tries
        self.now = now
        guard let session, records.isKept else { return }
        subscription.withLock { subscription in
            subscription = session.subscribe { [weak self] change in
                if case .wipe(let userID?) = change { self?.forget([userID]) }
            }
        }
    }

    package var keepsUploads: Bool { records.isKept }

    /// - Throws: `.shutDown`.
    package func checkOpen() throws(FileStorageError) {
        if state.withLock({ $0.isShutDown }) { throw .closed }
    }

    // MARK: Uploads

    /// - Parameter owner: The user who uploads, or ``UploadSession/noUser``.
    package func upload(
        _ content: UploadContent, to path: FilePath, _ options: UploadOptions, of owner: AuthUser.ID,
        driver: any UploadDriver
    ) throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try path.checked()
        var note: UploadRun.Note?
        if content.file != nil, keepsUploads {
            let id = RandomID.make()
            note = records.claim(id).map { claim in
                UploadRun.Note(
                    id: id, path: path, options: options, records: records, claim: claim,
                    begunAt: now().microseconds)
            }
        }
        let usual = options.isAwaited && tries.patience == nil ? RetryingCaller.defaultTimeLimit : nil
        return try run(content, of: owner, driver, note, policy.with(patience: options.patience ?? usual))
    }

    /// Resumable uploads of `owner` that are not running now, oldest first.
    ///
    /// Uploads without a known owner are deleted: they may belong to anyone, and no other user may see or send them.
    package func interruptedUploads(of owner: String) throws(FileStorageError) -> [InterruptedUpload] {
        try checkOpen()
        guard keepsUploads else { return [] }
        return records.all().filter { record in
            guard record.session.owner == nil || record.session.owner == owner, records.claim(record.id) != nil else {
                return false
            }
            if record.session.owner == nil { records.remove(record.id) }
            return record.session.owner == owner
        }.map(\.interrupted)
    }

    /// - Parameter driver: Makes the driver for a record.
    /// - Throws: `.notFound`, also for another user's upload.
    package func resume(
        _ id: InterruptedUpload.ID, of owner: String, driver: (UploadRecord) -> any UploadDriver
    ) throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try checkOpen()
        guard let claim = records.claim(id), let record = records.record(id), record.session.owner == owner else {
            throw FileStorageError(.notFound, "There is no interrupted upload with that ID.")
        }
        let content: UploadContent
        do throws(FileStorageError) {
            content = try UploadContent(resuming: record)
        } catch {
            // A changed file will not change back; a missing one may be put back.
            if error.code == .changed { records.remove(id) }
            throw error
        }
        let note = UploadRun.Note(
            id: id, path: FilePath(unchecked: record.path), options: record.options.uploadOptions, records: records,
            claim: claim, begunAt: record.begunAt)
        return try run(content, of: owner, driver(record), note, policy, resuming: record)
    }

    private func run(
        _ content: UploadContent, of owner: AuthUser.ID, _ driver: any UploadDriver, _ note: UploadRun.Note?,
        _ policy: TransferPolicy, resuming record: UploadRecord? = nil
    ) throws(FileStorageError) -> FileTransfer<FileMetadata> {
        // The run's loop needs this lock to end, so the run is registered by then.
        let run = state.withLock { state -> UploadRun? in
            guard !state.isShutDown else { return nil }
            let run = UploadRun(
                content, of: owner, driver: driver, policy: policy, note: note, resuming: record, tries: tries
            ) { [weak self] run in
                self?.state.withLock { _ = $0.uploads.removeValue(forKey: ObjectIdentifier(run)) }
            }
            state.uploads[ObjectIdentifier(run)] = run
            return run
        }
        guard let run else { throw .closed }
        return FileTransfer(run)
    }

    // MARK: Downloads

    /// - Parameter describe: Fetches the current metadata of `path`; does its own retries.
    package func download(
        _ path: FilePath, to file: URL, driver: any DownloadDriver,
        describe: @escaping @Sendable () async throws(FileStorageError) -> StoredFile
    ) throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try path.checked()
        let place = try DownloadFile(file)
        let (policy, tries) = (policy, tries)
        let run = state.withLock { state -> DownloadRun? in
            guard !state.isShutDown else { return nil }
            let run = DownloadRun(to: place, describe: describe) { stored, gate, failed in
                DownloadReader(
                    path, range: nil, version: stored.metadata.version, driver: driver, policy: policy,
                    tries: tries.telling(failed), gate: gate)
            } ended: { [weak self] run in
                self?.state.withLock { _ = $0.downloads.removeValue(forKey: ObjectIdentifier(run)) }
            }
            state.downloads[ObjectIdentifier(run)] = run
            return run
        }
        guard let run else { throw .closed }
        return FileTransfer(run)
    }

    /// The bytes of a file or a range of it, as they are consumed.
    ///
    /// - Parameter driver: Makes the driver when the first bytes are requested.
    package func bytes(
        of path: FilePath, range: Range<Int64>?,
        driver: @escaping @Sendable () async throws(FileStorageError) -> any DownloadDriver
    ) -> EventStream<Data, FileStorageError> {
        EventStream(from: {
            DownloadSource { [self] () async throws(FileStorageError) in
                try checkOpen()
                return try await reader(path, range, try await driver())
            }
        })
    }

    /// The same in memory.
    ///
    /// - Throws: `.tooLarge` above `limit`, as soon as that is known.
    package func data(
        at path: FilePath, range: Range<Int64>?, limit: Int, driver: any DownloadDriver
    ) async throws(FileStorageError) -> Data {
        guard let reader = try await reader(path, range, driver) else { return Data() }
        var data = Data()
        while let bytes = try await reader.next() {
            let expected = reader.expectedCount ?? 0
            guard bytes.count <= limit - data.count, expected <= limit else {
                throw FileStorageError(
                    .tooLarge, "The file is larger than the limit of \(limit) bytes.")
            }
            if data.isEmpty { data.reserveCapacity(Int(max(expected, Int64(bytes.count)))) }
            data.append(contentsOf: bytes)
        }
        return data
    }

    /// - Returns: `nil` for an empty range within the file.
    private func reader(
        _ path: FilePath, _ range: Range<Int64>?, _ driver: any DownloadDriver
    ) async throws(FileStorageError) -> DownloadReader? {
        try checkOpen()
        try path.checked()
        if let range {
            guard range.lowerBound >= 0 else { throw .rangeOutside }
            if range.isEmpty {
                guard try await driver.size(of: path) >= range.lowerBound else { throw .rangeOutside }
                return nil
            }
        }
        let reader = DownloadReader(path, range: range, driver: driver, policy: policy, tries: tries)
        state.withLock { state in
            state.readers = state.readers.filter { $0.value.reader != nil }
            state.readers[ObjectIdentifier(reader)] = WeakReader(reader: reader)
        }
        return reader
    }

    /// Cancels the uploads of `owners`, with or without a record yet, and deletes their records.
    private func forget(_ owners: [AuthUser.ID]) {
        guard !owners.isEmpty else { return }
        let uploads = state.withLock { Array($0.uploads.values) }
        for upload in uploads where owners.contains(upload.owner) { Task { await upload.cancel() } }
        for record in records.all() where record.session.owner.map(owners.contains) == true {
            records.remove(record.id)
        }
    }

    // MARK: The end

    /// Ends everything in progress; recorded uploads can continue later.
    package func shutDown() async {
        let (uploads, downloads, readers) = state.withLock { state in
            state.isShutDown = true
            return (state.uploads.values, state.downloads.values, state.readers.values)
        }
        subscription.withLock { $0?.stop() }
        for reader in readers { reader.reader?.close() }
        for upload in uploads { await upload.close() }
        for download in downloads { await download.close() }
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One download into a file.
final class DownloadRun: FileTransferControls {
    /// How often a download starts over because the file was replaced meanwhile.
    private static let replacements = 3

    private let gate = PauseGate()
    private let status = TransferStatus(completed: 0, total: nil)
    private let task = TaskBox()
    private let isClosing = Mutex(false)

    typealias Reading =
        @Sendable (StoredFile, PauseGate, _ failed: @escaping @Sendable (FileStorageError) -> Void) -> DownloadReader

    /// - Parameters:
    ///   - describe: Fetches the current metadata.
    ///   - read: Makes a reader of that version, which waits at the gate and reports failed attempts.
    init(
        to file: DownloadFile, describe: @escaping @Sendable () async throws(FileStorageError) -> StoredFile,
        read: @escaping Reading,
        ended: @escaping @Sendable (DownloadRun) -> Void
    ) {
        task.replace(
            with: Task { [self] in
                let outcome: TransferStatus.Outcome
                do throws(FileStorageError) {
                    outcome = .success(try await run(file, describe, read))
                } catch {
                    outcome = .failure(isClosing.withLock { $0 } ? .closed : Task.isCancelled ? .givenUp : error)
                }
                // The partial file is removed before the failure is reported.
                file.discard()
                status.finish(outcome)
                ended(self)
            })
    }

    private func run(
        _ file: DownloadFile, _ describe: () async throws(FileStorageError) -> StoredFile,
        _ read: Reading
    ) async throws(FileStorageError) -> FileMetadata {
        showPhase()
        var replacements = 0
        while true {
            await gate.pass()
            let openings = gate.openings
            let stored: StoredFile
            do throws(FileStorageError) {
                stored = try await describe()
            } catch {
                // It may have run out of patience while paused.
                let wasPaused = gate.isClosed || gate.openings != openings
                guard error.isRetryable, wasPaused, !Task.isCancelled else { throw error }
                continue
            }
            status.show(total: stored.metadata.size)
            do throws(FileStorageError) {
                try await fetch(stored, read(stored, gate) { [status] in status.show(failure: $0) }, file)
                try file.commit()
                return stored.metadata
            } catch {
                guard error.code == .changed, replacements < Self.replacements else { throw error }
                replacements += 1
                try file.restart()
            }
        }
    }

    private func fetch(
        _ stored: StoredFile, _ reader: DownloadReader, _ file: DownloadFile
    ) async throws(FileStorageError) {
        var count: Int64 = 0
        while let bytes = try await reader.next() {
            try file.write(bytes)
            count += Int64(bytes.count)
            if reader.isUnpacked { status.forgetTotal() }
            status.show(completed: count)
            await gate.pass()
        }
        if reader.isUnpacked { return }
        guard count == stored.metadata.size, reader.checksums.agree(with: stored.checksums) else {
            throw FileStorageError(
                .checksumMismatch, "The downloaded data does not match the server's checksum or size.")
        }
    }

    // MARK: Pauses

    /// Optionally closes or opens the gate, and shows its state. Recorded within its lock, because the owner may pause the
    /// run while it begins, and the later of the two must be visible.
    private func showPhase(closing: Bool? = nil) {
        gate.set(isClosed: closing) { isClosed in status.note(phase: isClosed ? .paused : .running) }
        status.tell()
    }

    // MARK: The owner's side

    func progress() -> SnapshotStream<TransferProgress, Never> { status.progress() }

    func result() async throws(FileStorageError) -> FileMetadata {
        if let outcome = await status.wait() { return try outcome.get() }
        await cancel()
        return try (status.outcome ?? .failure(.givenUp)).get()
    }

    func pause() async {
        showPhase(closing: true)
    }

    func resume() async {
        showPhase(closing: false)
    }

    func cancel() async {
        task.cancel()
        _ = await Task { await status.wait() }.value
    }

    func close() async {
        isClosing.withLock { $0 = true }
        await cancel()
    }
}

/// A file that is written next to its destination and moved there when complete; until then an existing file stays.
final class DownloadFile: Sendable {
    private let destination: String
    private let temporary: String
    private let contents: Mutex<Contents?>

    private struct Contents {
        let descriptor: Int32
        var count = 0
        var flushed = 0
        /// At the end, about this much is left to be waited for.
        private static let part = 8 << 20

        /// - Returns: What is to be stored next.
        mutating func wrote(_ more: Int) -> Range<Int>? {
            count += more
            guard count - flushed >= Contents.part else { return nil }
            defer { flushed = count }
            return flushed..<count
        }
    }

    /// - Throws: `.localFile` if the folder does not exist or cannot be written to.
    init(_ file: URL) throws(FileStorageError) {
        guard file.isFileURL else { throw FileStorageError(.localFile, "Downloads go to files on this device only.") }
        destination = file.path
        temporary =
            file.deletingLastPathComponent()
            .appendingPathComponent(".\(file.lastPathComponent).\(RandomID.make(length: 8)).part").path
        let opened = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard opened >= 0 else {
            throw FileStorageError(
                .localFile, "The downloaded file cannot be created: its folder is missing or not writable.")
        }
        contents = Mutex(Contents(descriptor: opened))
    }

    deinit { discard() }

    func write(_ bytes: [UInt8]) throws(FileStorageError) {
        guard let descriptor = contents.withLock({ $0?.descriptor }), POSIXFile.write(bytes, to: descriptor) == nil
        else {
            throw FileStorageError(.localFile, "The downloaded file cannot be written; the disk may be full.")
        }
        // The disk works while the rest arrives, so `commit` waits for little.
        if let part = contents.withLock({ $0?.wrote(bytes.count) }) { POSIXFile.beginFlush(descriptor, part) }
    }

    /// Discards the contents and starts over.
    func restart() throws(FileStorageError) {
        guard let descriptor = contents.withLock({ $0?.descriptor }), ftruncate(descriptor, 0) == 0,
            lseek(descriptor, 0, SEEK_SET) == 0
        else { throw FileStorageError(.localFile, "The downloaded file cannot be rewritten.") }
        contents.withLock { $0 = Contents(descriptor: descriptor) }
    }

    /// Moves the file to its destination.
    func commit() throws(FileStorageError) {
        guard let descriptor = takeDescriptor() else { return }
        // A full disk may show only here. And after a power failure there must be either the old file or the new one.
        let isWritten = POSIXFile.flush(descriptor)
        guard close(descriptor) == 0, isWritten else {
            unlink(temporary)
            throw FileStorageError(.localFile, "The downloaded file cannot be written; the disk may be full.")
        }
        guard rename(temporary, destination) == 0 else {
            unlink(temporary)
            throw FileStorageError(.localFile, "The downloaded file cannot be moved into place.")
        }
        POSIXFile.syncFolder(of: destination)
    }

    /// Removes the partial file. Does nothing after `commit`.
    func discard() {
        guard let descriptor = takeDescriptor() else { return }
        close(descriptor)
        unlink(temporary)
    }

    private func takeDescriptor() -> Int32? {
        contents.withLock { contents in
            defer { contents = nil }
            return contents?.descriptor
        }
    }
}

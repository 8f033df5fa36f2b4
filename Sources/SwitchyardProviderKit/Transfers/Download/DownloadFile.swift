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

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
    private let descriptor: Mutex<Int32?>

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
        descriptor = Mutex(opened)
    }

    deinit { discard() }

    func write(_ bytes: [UInt8]) throws(FileStorageError) {
        guard let descriptor = descriptor.withLock({ $0 }), POSIXFile.write(bytes, to: descriptor) == nil else {
            throw FileStorageError(.localFile, "The downloaded file cannot be written; the disk may be full.")
        }
    }

    /// Discards the contents and starts over.
    func restart() throws(FileStorageError) {
        guard let descriptor = descriptor.withLock({ $0 }), ftruncate(descriptor, 0) == 0,
            lseek(descriptor, 0, SEEK_SET) == 0
        else { throw FileStorageError(.localFile, "The downloaded file cannot be rewritten.") }
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
        descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
    }
}

package import Foundation
package import Switchyard

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A local file that is being uploaded, and a check that it is unchanged.
package struct SourceFile: Sendable, Hashable, Codable {
    /// The attributes of an unchanged file.
    package struct Identity: Sendable, Hashable, Codable {
        package let size: Int64
        package let modifiedSeconds: Int64
        package let modifiedNanoseconds: Int64
    }

    package let path: String
    package let identity: Identity

    /// - Throws: `.localFile` if there is no readable regular file.
    package init(_ url: URL) throws(FileStorageError) {
        guard url.isFileURL else { throw FileStorageError(.localFile, "Only files on this device can be uploaded.") }
        path = url.path
        guard let identity = Self.identity(of: path), access(path, R_OK) == 0 else {
            throw FileStorageError(.localFile, "The file to upload is missing, or cannot be read.")
        }
        self.identity = identity
    }

    init(path: String, identity: Identity) {
        self.path = path
        self.identity = identity
    }

    /// - Throws: `.changed` if the file has changed, `.localFile` if it is not there.
    package func check() throws(FileStorageError) {
        guard let present = Self.identity(of: path) else {
            throw FileStorageError(
                .localFile,
                "The file to upload is missing: it was moved or deleted, or its disk is not there. Put it back and resume "
                    + "the upload.")
        }
        guard present == identity else {
            throw FileStorageError(.changed, "The file has changed since the upload began.")
        }
    }

    var isUnchanged: Bool { Self.identity(of: path) == identity }
    var isMissing: Bool { Self.identity(of: path) == nil }

    private static func identity(of path: String) -> Identity? {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
            let modified = info.st_mtimespec
        #else
            let modified = info.st_mtim
        #endif
        return Identity(
            size: Int64(info.st_size), modifiedSeconds: Int64(modified.tv_sec),
            modifiedNanoseconds: Int64(modified.tv_nsec))
    }

    /// Passes the bytes of a range to `take`, a piece at a time.
    func read(_ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Void) throws(FileStorageError) {
        try Self.read(path, range, take)
    }

    static func read(
        _ path: String, _ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(FileStorageError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileStorageError(.localFile, "The file to upload cannot be read.") }
        defer { close(descriptor) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - position))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileStorageError(.changed, "The file ended before the upload did.") }
            take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
    }
}

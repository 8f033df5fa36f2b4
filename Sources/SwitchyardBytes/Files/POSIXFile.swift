#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Darwin)
    package import Darwin
#elseif canImport(Android)
    package import Android
#endif

/// The few system calls for reading and replacing a small file, in a type where methods do not shadow their names.
package enum POSIXFile {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(_ text: String) { description = text }
        init(_ what: String, _ code: Int32) { description = "\(what) failed: \(SystemFailure(code))" }
    }

    /// More than any session needs; anything larger is not one.
    private static let limit = 1 << 20

    /// - Returns: `nil` if there is no such file.
    package static func read(_ path: String) throws(Failure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure("reading it", errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = chunk.withUnsafeMutableBytes { buffer in readSome(descriptor, buffer) }
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure("reading it", errno)
            }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw Failure("it is too large") }
        }
    }

    /// Writes a new file next to the old one, readable by its owner only, and moves it into place: readers see one or the
    /// other.
    ///
    /// - Parameter outlastsPowerCut: Whether one of them must exist after a power failure, which requires waiting for the disk.
    /// - Returns: The system's information about the new file.
    @discardableResult
    package static func replace(
        _ path: String, with bytes: [UInt8], outlastsPowerCut: Bool = true
    ) throws(Failure) -> stat {
        let draft = "\(path).\(RandomID.make(length: 8)).new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("writing it", errno) }
        var info = stat()
        var failure: Failure?
        if write(bytes, to: descriptor) != nil || (outlastsPowerCut && !flush(descriptor))
            || fstat(descriptor, &info) != 0
        {
            failure = Failure("writing it", errno)
        }
        close(descriptor)
        if failure == nil, rename(draft, path) != 0 { failure = Failure("replacing it", errno) }
        if let failure {
            unlink(draft)
            throw failure
        }
        if outlastsPowerCut { syncFolder(of: path) }
        return info
    }

    /// Writes over an existing file in place. Not atomic: after a crash it may be neither the old nor the new one.
    package static func overwrite(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Failure("writing over it", errno) }
        defer { close(descriptor) }
        if let code = write(bytes, to: descriptor) { throw Failure("writing over it", code) }
        guard ftruncate(descriptor, off_t(bytes.count)) == 0, flush(descriptor) else {
            throw Failure("writing over it", errno)
        }
    }

    /// - Returns: Whether there is no such file any more.
    package static func remove(_ path: String) -> Bool {
        guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { return false }
        syncFolder(of: path)
        return true
    }

    /// Renames a file so that nothing is lost.
    ///
    /// - Returns: The new name, without the folder.
    package static func setAside(_ path: String, as suffix: String) throws(Failure) -> String {
        var number = 1
        while access("\(path).\(suffix)-\(number)", F_OK) == 0 { number += 1 }
        let place = "\(path).\(suffix)-\(number)"
        guard rename(path, place) == 0 || errno == ENOENT else { throw Failure("renaming it", errno) }
        return String(place.split(separator: "/").last ?? "")
    }

    #if canImport(Glibc)
        private static func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        }
        private static func writeSome(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
            Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
    #elseif canImport(Musl)
        private static func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            Musl.read(descriptor, buffer.baseAddress, buffer.count)
        }
        private static func writeSome(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
            Musl.write(descriptor, buffer.baseAddress, buffer.count)
        }
    #else
        private static func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        }
        private static func writeSome(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
            Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        }
    #endif

    /// - Returns: The system's error, if any.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = writeSome(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                rest = rest.dropFirst(count)
            }
            return nil
        }
    }

    /// Makes a new name survive a power failure, if the file system supports that.
    package static func syncFolder(of path: String) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = flush(descriptor)
        close(descriptor)
    }

    /// Has the system begin to store a part of what was written, so that a later `flush` need not wait for all of it. Waits
    /// only if the disk's queue is full, and does nothing where the system has no such call.
    package static func beginFlush(_ descriptor: Int32, _ part: Range<Int>) {
        #if canImport(Glibc) || canImport(Musl)
            // Pages that the disk does not have yet are not dropped: they begin to be stored.
            _ = posix_fadvise(descriptor, off_t(part.lowerBound), off_t(part.count), POSIX_FADV_DONTNEED)
        #endif
    }

    /// Waits until the disk itself has stored the data; on Darwin, a plain sync returns before that.
    package static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // Some file systems support only the plain sync.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }
}

/// A refusal of the system, in its own words, such as “Permission denied”.
package struct SystemFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's error number.
    package let code: Int32

    package init(_ code: Int32) { self.code = code }

    package var description: String { String(cString: strerror(code)) }
}

extension FileLock.Refusal {
    /// Why the lock was not taken, in the middle of a sentence.
    package var reason: String {
        switch self {
        case .held: "it is in use by another process, or in this one"
        case .unusable(let code): SystemFailure(code).description
        }
    }
}

extension POSIXFile {
    /// Creates a folder, and those above it that are missing.
    package static func makeFolder(_ path: String, mode: UInt32 = 0o700) throws(SystemFailure) {
        guard mkdir(path, mode_t(mode)) != 0 else { return }
        var code = errno
        if code == ENOENT, let above = folder(above: path) {
            try makeFolder(above, mode: mode)
            guard mkdir(path, mode_t(mode)) != 0 else { return }
            code = errno
        }
        var info = stat()
        // Someone else may have made it. Some systems refuse to make one that exists for other reasons.
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw SystemFailure(code == EEXIST ? ENOTDIR : code)
        }
    }

    private static func folder(above path: String) -> String? {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
        return String(path[..<slash])
    }
}

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A system lock on a file, with one holder at a time across processes. The system releases it when the process ends in any
/// way.
package final class FileLock: Sendable {
    package enum Refusal: Error, Sendable, Hashable {
        /// The lock is held already.
        case held
        /// The file cannot be created or locked; contains the system's error number.
        case unusable(Int32)
    }

    private let end: Once

    /// Takes the lock, or fails at once.
    ///
    /// - Parameters:
    ///   - path: Created if missing, in an existing folder; readable by its owner only.
    ///   - removesFile: Whether to remove the file when releasing the lock.
    package init(_ path: String, removesFile: Bool = false) throws(Refusal) {
        let descriptor = try FileLock.take(path)
        end = Once {
            if removesFile { unlink(path) }
            // Closing alone is not enough: a process being started has a copy of the descriptor until its program runs.
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }

    private static func take(_ path: String) throws(Refusal) -> Int32 {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .unusable(errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                close(descriptor)
                if code == EINTR { continue }
                throw code == EWOULDBLOCK ? .held : .unusable(code)
            }
            // The previous holder may have removed the file since it was opened; a lock on a removed file excludes no one.
            if isFile(descriptor, at: path) { return descriptor }
            close(descriptor)
        }
    }

    package var isHeld: Bool { !end.hasRun }

    /// Releases the lock. Calling it twice is harmless.
    package func release() { end.run() }

    deinit { end.run() }

    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var (held, present) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(path, &present) == 0 && held.st_ino == present.st_ino
            && held.st_dev == present.st_dev
    }
}

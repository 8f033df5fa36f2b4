#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// The system's lock on a file, which one holder has at a time, in this process or another. The system lets go of it with
/// the process, however that ends.
package final class FileLock: Sendable {
    package enum Refusal: Error, Sendable, Hashable {
        /// Somebody has it.
        case held
        /// The file cannot be made or locked; with the system's error number.
        case unusable(Int32)
    }

    private let end: Once

    /// Takes the lock, or fails at once.
    ///
    /// - Parameters:
    ///   - path: Made if it is not there, in a folder that is; readable by its owner only.
    ///   - removesFile: Whether the file goes with the lock.
    package init(_ path: String, removesFile: Bool = false) throws(Refusal) {
        let descriptor = try FileLock.take(path)
        end = Once {
            if removesFile { unlink(path) }
            // Not by closing alone: a process that is being started has a copy of the descriptor until its program runs.
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
            // Whoever held it last may have removed the file since it was opened: a lock on that one keeps nobody out.
            if isFile(descriptor, at: path) { return descriptor }
            close(descriptor)
        }
    }

    package var isHeld: Bool { !end.hasRun }

    /// Doing it twice is fine.
    package func release() { end.run() }

    deinit { end.run() }

    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var (held, present) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(path, &present) == 0 && held.st_ino == present.st_ino
            && held.st_dev == present.st_dev
    }
}

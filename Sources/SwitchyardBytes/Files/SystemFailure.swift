#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

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
        // Somebody else may have made it. Some systems refuse to make one that exists for other reasons.
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

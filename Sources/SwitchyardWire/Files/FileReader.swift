#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads a file, or a range of it, from its beginning, and can be rewound.
///
/// Not thread-safe. The file is closed with the reader.
package final class FileReader {
    /// The number of bytes in the range.
    let count: Int64
    private let descriptor: Int32
    private let start: Int64
    private(set) var position: Int64 = 0

    /// - Throws: `.requestBodyFailed` if the file cannot be opened, is not a regular file, or is shorter than the range.
    package init(_ path: String, range: Range<Int64>?) throws(TransportError) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else {
            throw TransportError(.requestBodyFailed, "the file cannot be opened (error \(errno))")
        }
        var info = stat()
        guard fstat(opened, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw TransportError(.requestBodyFailed, "this is not a regular file")
        }
        let whole = 0..<Int64(info.st_size)
        let part = range ?? whole
        guard part.lowerBound >= 0, part.upperBound <= whole.upperBound else {
            close(opened)
            throw TransportError(.requestBodyFailed, "the file is shorter than the range asked for")
        }
        descriptor = opened
        start = part.lowerBound
        count = Int64(part.count)
    }

    deinit {
        close(descriptor)
    }

    /// Fills `buffer` from the range. Returns 0 at the end of the range, or of a file that has shrunk since (compare `position`
    /// with `count`), and -1 on error.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let wanted = Int(min(Int64(buffer.count), count - position))
        guard wanted > 0 else { return 0 }
        while true {
            let taken = pread(descriptor, buffer.baseAddress, wanted, off_t(start + position))
            if taken < 0, errno == EINTR { continue }
            if taken > 0 { position += Int64(taken) }
            return taken
        }
    }

    /// The next bytes; empty at the end of the range.
    ///
    /// - Throws: `.requestBodyFailed` on an error, or if the file ends before the range.
    package func read(upTo limit: Int) throws(TransportError) -> [UInt8] {
        var taken = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            taken = read(into: UnsafeMutableRawBufferPointer(buffer))
            initialized = max(taken, 0)
        }
        guard taken > 0 || (taken == 0 && position == count) else {
            throw TransportError(.requestBodyFailed, "the file could not be read to the end of its range")
        }
        return bytes
    }

    /// Moves to `offset` within the range.
    func seek(to offset: Int64) -> Bool {
        guard (0...count).contains(offset) else { return false }
        position = offset
        return true
    }
}

import SwitchyardBytes
import Synchronization

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
            throw TransportError(.requestBodyFailed, "the file cannot be opened: \(SystemFailure(errno))")
        }
        var info = stat()
        guard fstat(opened, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw TransportError(.requestBodyFailed, "the path is not that of a regular file")
        }
        let whole = 0..<Int64(info.st_size)
        let part = range ?? whole
        guard part.lowerBound >= 0, part.upperBound <= whole.upperBound else {
            close(opened)
            throw TransportError(.requestBodyFailed, "the file is shorter than the requested range")
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

/// Writes bodies to files.
package enum FileSink {
    /// Writes `body` as it arrives. Bytes written before a failure stay, so that a later request can continue.
    package static func write(
        _ body: HTTPBody, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) {
        let descriptor: Int32
        do throws(TransportError) {
            descriptor = try create(file)
        } catch {
            body.cancel()
            throw error
        }
        defer { close(descriptor) }
        var written: Int64 = 0
        for try await bytes in body {
            do throws(TransportError) {
                try write(bytes, to: descriptor)
            } catch {
                body.cancel()
                throw error
            }
            written += Int64(bytes.count)
            progress?(written)
        }
    }

    /// Writes the body of an upload as it is produced, for transports that can send only files.
    ///
    /// - Throws: `.requestBodyFailed` if the body fails or has another length than stated; `.fileFailed` for `file`.
    package static func write(_ body: RequestBody, to file: FileDestination) async throws(TransportError) {
        let descriptor = try create(file)
        defer { close(descriptor) }
        switch body.content {
        case .bytes(let bytes): try write(bytes, to: descriptor)
        case .file(let path, let range):
            let reader = try FileReader(path, range: range)
            while true {
                let bytes = try reader.read(upTo: 256 * 1024)
                if bytes.isEmpty { return }
                try write(bytes, to: descriptor)
            }
        case .produced(let produce):
            let written = Atomic<Int64>(0)
            do {
                try await produce(
                    RequestBodyWriter { bytes throws(TransportError) in
                        try write(bytes, to: descriptor)
                        written.add(Int64(bytes.count), ordering: .relaxed)
                    })
            } catch let error as TransportError where error.code == .fileFailed {
                throw error
            } catch {
                throw TransportError(.requestBodyFailed, "the producer of the body failed", underlying: error)
            }
            guard body.length == nil || body.length == written.load(ordering: .relaxed) else {
                throw TransportError(.requestBodyFailed, "the body is not as long as declared")
            }
        }
    }

    private static func create(_ file: FileDestination) throws(TransportError) -> Int32 {
        let descriptor = open(
            file.path, O_WRONLY | O_CREAT | O_CLOEXEC | (file.appends ? O_APPEND : O_TRUNC), 0o600)
        guard descriptor >= 0 else {
            throw TransportError(
                .fileFailed, "the file cannot be created: \(SystemFailure(errno))", mayHaveBeenSent: true)
        }
        return descriptor
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(TransportError) {
        let failure: Int32? = bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                rest = rest.dropFirst(count)
            }
            return nil
        }
        guard let failure else { return }
        throw TransportError(
            .fileFailed, "the file cannot be written: \(SystemFailure(failure))", mayHaveBeenSent: true)
    }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes the body of a download to a file.
package enum FileSink {
    /// Writes `body` as it arrives. What was written before a failure stays, so that a later request can continue.
    package static func write(
        _ body: HTTPBody, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) {
        let descriptor = open(
            file.path, O_WRONLY | O_CREAT | O_CLOEXEC | (file.appends ? O_APPEND : O_TRUNC), 0o600)
        guard descriptor >= 0 else {
            body.cancel()
            throw TransportError(.fileFailed, "the file cannot be created (error \(errno))", mayHaveBeenSent: true)
        }
        defer { close(descriptor) }
        var written: Int64 = 0
        for try await bytes in body {
            guard write(bytes, to: descriptor) else {
                body.cancel()
                throw TransportError(.fileFailed, "the file cannot be written (error \(errno))", mayHaveBeenSent: true)
            }
            written += Int64(bytes.count)
            progress?(written)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                rest = rest.dropFirst(count)
            }
            return true
        }
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

import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes bodies to files.
package enum FileSink {
    /// Writes `body` as it arrives. Bytes written before a failure are kept, so that a later request can continue.
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
            throw TransportError(.fileFailed, "the file cannot be created (error \(errno))", mayHaveBeenSent: true)
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
        throw TransportError(.fileFailed, "the file cannot be written (error \(failure))", mayHaveBeenSent: true)
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

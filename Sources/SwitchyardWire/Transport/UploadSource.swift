/// Where the bytes of a request body come from, seen from the thread that sends them.
protocol UploadSource: AnyObject, Sendable {
    /// The exact number of bytes, where known.
    var length: Int64? { get }
    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead
    /// Back to the beginning, for a connection that proved dead; `false` if that cannot be.
    func rewind() -> Bool
    /// The exchange is over: nobody will read again.
    func finish(_ error: TransportError?)
}

enum UploadRead {
    case bytes(Int)
    /// None at the moment; the source will call for it.
    case later
    case end
    case failed(TransportError)
}

/// Bytes in memory. Confined to the thread that runs the exchange, once handed over.
final class BytesUploadSource: UploadSource, @unchecked Sendable {
    private let bytes: [UInt8]
    // Only the sending thread touches it, after the command queue's lock has handed the source over.
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var length: Int64? { Int64(bytes.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        let count = min(buffer.count, bytes.count - position)
        guard count > 0 else { return .end }
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
        }
        position += count
        return .bytes(count)
    }

    func rewind() -> Bool {
        position = 0
        return true
    }

    func finish(_ error: TransportError?) {}
}

/// A file, or a part of one. Confined to the thread that runs the exchange, once handed over.
final class FileUploadSource: UploadSource, @unchecked Sendable {
    // Only the sending thread touches it, after the command queue's lock has handed the source over.
    private let reader: FileReader

    init(_ reader: FileReader) {
        self.reader = reader
    }

    var length: Int64? { reader.count }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        let count = reader.read(into: buffer)
        if count > 0 { return .bytes(count) }
        if count == 0, reader.position == reader.count { return .end }
        return .failed(
            TransportError(
                .requestBodyFailed, "the file could not be read to the end of its range", mayHaveBeenSent: true))
    }

    func rewind() -> Bool { reader.seek(to: 0) }

    func finish(_ error: TransportError?) {}
}

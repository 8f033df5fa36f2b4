/// The source of a request body, as used by the sending thread.
protocol UploadSource: AnyObject, Sendable {
    /// The exact number of bytes, if known.
    var length: Int64? { get }
    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead
    /// Goes back to the beginning after a dead connection; returns `false` if that is not possible.
    func rewind() -> Bool
    /// The exchange has ended, so there are no more reads.
    func finish(_ error: TransportError?)
}

enum UploadRead {
    case bytes(Int)
    /// There is nothing at the moment; the source will resume the sender.
    case later
    case end
    case failed(TransportError)
}

/// Bytes in memory. Confined to the thread that runs the exchange, once submitted.
final class BytesUploadSource: UploadSource, @unchecked Sendable {
    private let bytes: [UInt8]
    // Only the sending thread uses it, after the command queue's lock has passed the source on.
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

/// A file, or a part of one. Confined to the thread that runs the exchange, once submitted.
final class FileUploadSource: UploadSource, @unchecked Sendable {
    // Only the sending thread uses it, after the command queue's lock has passed the source on.
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

import Switchyard
import SwitchyardBytes
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The bytes of an object, in a file: written as they arrive, read on demand, never completely in memory.
package final class ServerContents: Sendable {
    package struct Sums: Sendable {
        package var size: Int64 = 0
        package var md5: [UInt8] = []
        package var crc32c: UInt32 = 0
    }

    private struct State {
        let descriptor: Int32
        var size: Int64 = 0
        var md5 = MD5()
        var crc = CRC32C()
        /// The request that may write: the latest one.
        var writer = 0
    }

    package enum Failure: Error { case cannotBeWritten, superseded }

    package let path: String
    private let state: Mutex<State>

    /// Creates an empty file.
    package init(_ path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cannotBeWritten }
        self.path = path
        state = Mutex(State(descriptor: descriptor))
    }

    deinit { close(state.withLock { $0.descriptor }) }

    package var size: Int64 { state.withLock { $0.size } }

    package var sums: Sums {
        state.withLock { Sums(size: $0.size, md5: $0.md5.digest(), crc32c: $0.crc.value) }
    }

    /// Makes the caller the only writer: bytes from an older request are dropped.
    package func takeOver() -> Int {
        state.withLock { state in
            state.writer += 1
            return state.writer
        }
    }

    package func append(_ bytes: [UInt8], by writer: Int) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            guard state.writer == writer else { throw .superseded }
            guard POSIXFile.write(bytes, to: state.descriptor) == nil else { throw .cannotBeWritten }
            state.size += Int64(bytes.count)
            bytes.withUnsafeBytes {
                state.md5.update($0)
                state.crc.update($0)
            }
        }
    }

    /// Deletes the file of a failed upload.
    package func discard() { unlink(path) }

    /// Sends a range of a file. The file stays readable to the end, even if it is deleted meanwhile.
    package static func answer(_ path: String, _ range: Range<Int64>, status: Int) -> ServerResponse? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = OpenFile(descriptor)
        return .stream(status: status, length: range.count) { writer in
            var position = range.lowerBound
            while position < range.upperBound {
                let bytes = file.read(at: position, upTo: Int(min(256 << 10, range.upperBound - position)))
                guard !bytes.isEmpty else { throw Failure.superseded }
                try await writer.write(bytes)
                position += Int64(bytes.count)
            }
        }
    }

    private final class OpenFile: Sendable {
        private let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }

        func read(at position: Int64, upTo count: Int) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = max(pread(descriptor, buffer.baseAddress, count, off_t(position)), 0)
            }
        }
    }
}

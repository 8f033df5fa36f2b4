import Switchyard
import SwitchyardBytes
import SwitchyardWire
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

    /// Appends what another file holds.
    package func append(fileAt path: String, by writer: Int) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotBeWritten }
        let file = OpenFile(descriptor)
        var position: Int64 = 0
        while true {
            let bytes = file.read(at: position, upTo: 256 << 10)
            guard !bytes.isEmpty else { return }
            try append(bytes, by: writer)
            position += Int64(bytes.count)
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

/// The bytes of an object that a request asks for.
package struct ContentRange: Sendable {
    package let bytes: Range<Int64>
    /// Whether a range was requested and is returned.
    package let isPart: Bool
    package let size: Int64

    /// - Returns: `nil` if the requested range cannot be satisfied.
    package init?(of request: ServerRequest, size: Int64, etag: String) {
        self.size = size
        // A range of an object that has changed since is ignored.
        let isStale = request.headers["If-Range"].map { $0 != etag } ?? false
        guard let header = request.headers["Range"], header.hasPrefix("bytes="), !isStale else {
            (bytes, isPart) = (0..<size, false)
            return
        }
        guard let wanted = Self.parse(header, size: size) else { return nil }
        (bytes, isPart) = (wanted, true)
    }

    package var status: Int { isPart ? 206 : 200 }

    /// The `Content-Range` header; `nil` for the whole object.
    package var header: String? { isPart ? "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(size)" : nil }

    /// `bytes=a-b`, `bytes=a-` or `bytes=-n`; `nil` if it cannot be satisfied.
    private static func parse(_ header: String, size: Int64) -> Range<Int64>? {
        // Of several ranges, only the first is returned.
        let parts = header.dropFirst(6).prefix { $0 != "," }.split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let count = Int64(parts[1]), count > 0, size > 0 else { return nil }
            return max(0, size - count)..<size
        }
        guard let first = Int64(parts[0]), first < size else { return nil }
        let last = parts[1].isEmpty ? size - 1 : Int64(parts[1]) ?? size - 1
        return first <= last ? first..<(min(last, size - 1) + 1) : nil
    }
}

/// Uploads in progress that are sent in parts.
///
/// `Object` describes the object that an upload will become.
package final class ServerUploads<Object: Sendable>: Sendable {
    /// One upload. Only one request at a time writes its contents.
    package final class Session: Sendable {
        package let id: String
        package let object: Object
        package let contents: ServerContents
        private let state = Mutex(ServerUploadStatus.active)
        private let total: Mutex<Int64?>

        package init(id: String, object: Object, length: Int64?, contents: ServerContents) {
            self.id = id
            self.object = object
            self.contents = contents
            total = Mutex(length)
        }

        /// `nil` while it is not known.
        package var length: Int64? { total.withLock { $0 } }

        /// Sets the length of an upload that was begun without one.
        package func fix(length: Int64) { total.withLock { $0 = $0 ?? length } }

        package var status: ServerUploadStatus { state.withLock { $0 } }

        /// - Returns: Whether it was active until now.
        package func end(_ status: ServerUploadStatus) -> Bool {
            state.withLock { current in
                guard current == .active else { return false }
                current = status
                return true
            }
        }
    }

    private let sessions = Mutex<[String: Session]>([:])

    package init() {}

    package func add(_ session: Session) { sessions.withLock { $0[session.id] = session } }
    package func session(_ id: String) -> Session? { sessions.withLock { $0[id] } }

    /// For a service that forgets finished uploads.
    package func forget(_ id: String) { sessions.withLock { _ = $0.removeValue(forKey: id) } }

    /// Forgets all uploads, as a service does after a while.
    package func forgetAll() {
        let all = sessions.withLock { sessions in
            defer { sessions = [:] }
            return Array(sessions.values)
        }
        for session in all where session.end(.cancelled) { session.contents.discard() }
    }
}

package enum ServerUploadStatus: String, Sendable { case active, final, cancelled }

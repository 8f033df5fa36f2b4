import Synchronization

/// Passes a produced request body from its task to the sending thread, with a bounded buffer.
final class UploadPipe: UploadSource {
    private typealias Outcome = Result<Void, TransportError>

    private struct State {
        var chunks: [[UInt8]] = []
        /// How much of the first chunk has been sent.
        var offset = 0
        var count = 0
        var accepted: Int64 = 0
        /// The producer, suspended because too much is outstanding.
        var writer: CheckedContinuation<Outcome, Never>?
        /// Whether the sender found nothing and waits for `resume`.
        var isStarved = false
        /// The producer's outcome.
        var produced: Outcome?
        /// The exchange's outcome.
        var ended: Outcome?
        var hasBeenRead = false
    }

    let length: Int64?
    private let capacity: Int
    /// Makes the sender read again. Called without a lock held.
    private let resume: @Sendable () -> Void
    private let state = Mutex(State())

    init(length: Int64?, capacity: Int = 256 * 1024, resume: @escaping @Sendable () -> Void) {
        self.length = length
        self.capacity = capacity
        self.resume = resume
    }

    // MARK: The producing task

    /// Queues `bytes`. Suspends while more than the capacity is outstanding, until half of it has been sent.
    func push(_ bytes: [UInt8]) async throws(TransportError) {
        if Task.isCancelled { throw Self.cancelled }
        guard !bytes.isEmpty else { return }
        var wakes = false
        let accepted: Outcome = state.withLock { state in
            if let ended = state.ended { return ended.flatMap { .failure(Self.over) } }
            state.accepted += Int64(bytes.count)
            if let length, state.accepted > length {
                return .failure(TransportError(.requestBodyFailed, "the body is longer than declared"))
            }
            state.chunks.append(bytes)
            state.count += bytes.count
            wakes = state.isStarved
            state.isStarved = false
            return .success(())
        }
        if wakes { resume() }
        try accepted.get()
        try await waitForRoom()
    }

    /// The producer has returned or thrown.
    func complete(_ outcome: Result<Void, TransportError>) {
        let wakes = state.withLock { state in
            state.produced = outcome
            if case .success = outcome, let length, state.accepted < length {
                state.produced = .failure(
                    TransportError(.requestBodyFailed, "the body is shorter than declared", mayHaveBeenSent: true))
            }
            defer { state.isStarved = false }
            return state.isStarved
        }
        if wakes { resume() }
    }

    private func waitForRoom() async throws(TransportError) {
        guard state.withLock({ $0.count > capacity && $0.ended == nil }) else { return }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                let ready: Outcome? = state.withLock { state in
                    if let ended = state.ended { return ended.flatMap { .failure(Self.over) } }
                    if state.count <= capacity { return .success(()) }
                    if Task.isCancelled { return .failure(Self.cancelled) }
                    state.writer = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            takeWriter()?.resume(returning: .failure(Self.cancelled))
        }
        try outcome.get()
    }

    private func takeWriter() -> CheckedContinuation<Outcome, Never>? {
        state.withLock { state in
            defer { state.writer = nil }
            return state.writer
        }
    }

    // MARK: The sending thread

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        var writer: CheckedContinuation<Outcome, Never>?
        let result: UploadRead = state.withLock { state in
            state.hasBeenRead = true
            guard state.count > 0 else {
                switch state.produced {
                case nil:
                    state.isStarved = true
                    return .later
                case .success: return .end
                case .failure(let error): return .failed(error)
                }
            }
            let taken = Self.move(&state, into: buffer)
            if state.count <= capacity / 2 { swap(&writer, &state.writer) }
            return .bytes(taken)
        }
        writer?.resume(returning: .success(()))
        return result
    }

    func rewind() -> Bool {
        state.withLock { !$0.hasBeenRead }
    }

    func finish(_ error: TransportError?) {
        var writer: CheckedContinuation<Outcome, Never>?
        state.withLock { state in
            state.ended = error.map { .failure($0) } ?? .success(())
            state.chunks = []
            state.count = 0
            swap(&writer, &state.writer)
        }
        writer?.resume(returning: .failure(error ?? Self.over))
    }

    private static func move(_ state: inout State, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        var used = 0
        while filled < buffer.count, used < state.chunks.count {
            let available = state.chunks[used].count - state.offset
            let count = min(available, buffer.count - filled)
            state.chunks[used].withUnsafeBytes { chunk in
                let source = UnsafeRawBufferPointer(rebasing: chunk[state.offset..<state.offset + count])
                UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: source)
            }
            filled += count
            if count == available {
                used += 1
                state.offset = 0
            } else {
                state.offset += count
            }
        }
        state.chunks.removeFirst(used)
        state.count -= filled
        return filled
    }

    private static let cancelled = TransportError(.cancelled, "producing the body was cancelled")
    private static let over = TransportError(.requestBodyFailed, "the exchange ended before the body did")
}

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

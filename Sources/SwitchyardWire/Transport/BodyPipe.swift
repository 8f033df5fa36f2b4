import Synchronization

/// Passes a body from the receiving thread to the reading task, with a bounded buffer.
final class BodyPipe: HTTPBodySource {
    /// Controls the receiving side. Called without a lock held.
    protocol Control: AnyObject, Sendable {
        /// There is room again after `offer` has refused.
        func resumeReceiving()
        func cancel()
    }

    private typealias Piece = Result<[UInt8]?, TransportError>

    private struct State {
        var buffer: [UInt8] = []
        var reader: CheckedContinuation<Piece, Never>?
        var isPaused = false
        var end: Result<Void, TransportError>?
        /// Kept until the end: a pipe and its exchange retain each other until then.
        var control: (any Control)?
    }

    private let capacity: Int
    private let state: Mutex<State>

    init(capacity: Int = 256 * 1024) {
        self.capacity = capacity
        state = Mutex(State())
    }

    func attach(_ control: any Control) {
        state.withLock { $0.control = control }
    }

    // MARK: The receiving thread

    /// Takes all of `bytes`, or none: then the sender must wait for `resumeReceiving`.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return true }
        var reader: CheckedContinuation<Piece, Never>?
        let isTaken = state.withLock { state in
            if let waiting = state.reader {
                state.reader = nil
                reader = waiting
                return true
            }
            guard state.buffer.isEmpty || state.buffer.count + bytes.count <= capacity else {
                state.isPaused = true
                return false
            }
            state.buffer.append(contentsOf: bytes)
            return true
        }
        reader?.resume(returning: .success(Array(bytes)))
        return isTaken
    }

    /// Ends the input. Buffered bytes are still delivered, even before an error.
    func finish(_ error: TransportError?) {
        var reader: CheckedContinuation<Piece, Never>?
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = error.map { .failure($0) } ?? .success(())
            state.control = nil
            swap(&reader, &state.reader)
        }
        reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    }

    // MARK: The reading task

    func next() async throws(TransportError) -> [UInt8]? {
        if Task.isCancelled {
            cancel()
            throw TransportError(.cancelled, "reading the body was cancelled", mayHaveBeenSent: true)
        }
        if let piece = takeBuffered() { return try piece.get() }
        let piece = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Piece, Never>) in
                if let piece = takeBuffered(orLeave: continuation) { continuation.resume(returning: piece) }
            }
        } onCancel: {
            cancel()
        }
        return try piece.get()
    }

    /// The receiving side ends the transfer, and the pipe with it.
    func cancel() {
        state.withLock(\.control)?.cancel()
    }

    private func takeBuffered(orLeave reader: CheckedContinuation<Piece, Never>? = nil) -> Piece? {
        var resumed: (any Control)?
        let piece: Piece? = state.withLock { state in
            if !state.buffer.isEmpty {
                var bytes: [UInt8] = []
                swap(&bytes, &state.buffer)
                if state.isPaused {
                    state.isPaused = false
                    resumed = state.control
                }
                return .success(bytes)
            }
            if let end = state.end { return end.map { nil } }
            guard state.reader == nil else {
                return .failure(TransportError(.invalidRequest, "two tasks read one body", mayHaveBeenSent: true))
            }
            state.reader = reader
            return nil
        }
        resumed?.resumeReceiving()
        return piece
    }
}

import Synchronization

/// Passes bytes from the loop thread to one reading task, with back-pressure: the loop stops reading the socket while more than
/// `highWater` bytes wait here, and continues below half of it.
final class BytePipe: Sendable {
    enum End: Sendable { case complete, failed(ServerError) }

    private struct State {
        var chunks: [[UInt8]] = []
        var first = 0
        var count = 0
        var end: End?
        var isFull = false
        var wasRead = false
        var reader: CheckedContinuation<Void, Never>?
        var isReaderCancelled = false
    }

    static let highWater = 256 * 1024

    private let state = Mutex(State())
    /// Called from the reading task when the loop should read again.
    private let onDrained: @Sendable () -> Void
    /// Called once from the reading task, before it first waits.
    private let onFirstRead: @Sendable () -> Void

    init(onFirstRead: @escaping @Sendable () -> Void = {}, onDrained: @escaping @Sendable () -> Void) {
        self.onFirstRead = onFirstRead
        self.onDrained = onDrained
    }

    /// - Returns: Whether the loop may continue reading.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let chunk = [UInt8](bytes)
        let (reader, goesOn) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard state.end == nil else { return (nil, true) }
            state.chunks.append(chunk)
            state.count += chunk.count
            if state.count > Self.highWater { state.isFull = true }
            defer { state.reader = nil }
            return (state.reader, !state.isFull)
        }
        reader?.resume()
        return goesOn
    }

    /// Only the first end counts.
    func finish(_ end: End) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// The next bytes, never empty, or `nil` at the end. There can be only one caller at a time.
    func next() async throws(ServerError) -> [UInt8]? {
        while true {
            let found = take()
            if found.drained { onDrained() }
            if found.isFirst { onFirstRead() }
            if let chunk = found.chunk { return chunk }
            switch found.end {
            case .complete: return nil
            case .failed(let error): throw error
            case nil: break
            }
            if Task.isCancelled { throw .cancelled }
            await waitForMore()
        }
    }

    private func take() -> (chunk: [UInt8]?, end: End?, drained: Bool, isFirst: Bool) {
        state.withLock { state in
            let isFirst = !state.wasRead
            state.wasRead = true
            guard state.first < state.chunks.count else { return (nil, state.end, false, isFirst) }
            let chunk = state.chunks[state.first]
            state.chunks[state.first] = []
            state.first += 1
            if state.first == state.chunks.count {
                state.chunks.removeAll(keepingCapacity: true)
                state.first = 0
            }
            state.count -= chunk.count
            let drained = state.isFull && state.count < Self.highWater / 2
            if drained { state.isFull = false }
            return (chunk, nil, drained, isFirst)
        }
    }

    private func waitForMore() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isReaderCancelled || state.first < state.chunks.count || state.end != nil { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.isReaderCancelled = true
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }
    }
}

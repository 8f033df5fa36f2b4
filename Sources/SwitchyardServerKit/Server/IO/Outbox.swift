import Synchronization

/// Passes bytes from handlers to the loop thread: they are appended under a lock, and flushed once per wake-up.
///
/// A writer waits while more than `highWater` bytes have not reached the kernel.
final class Outbox: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// The number of bytes taken by the loop, but not yet by the kernel.
        var inFlight = 0
        var isSignalled = false
        var isBroken = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var total = 0
    }

    static let highWater = 256 * 1024

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// The total number of bytes accepted from writers.
    var total: Int { state.withLock { $0.total } }

    /// Whether nothing queued from now on will ever be read.
    var isBroken: Bool { state.withLock { $0.isBroken } }

    /// Queues `bytes` and returns at once.
    func append(_ bytes: [UInt8]) {
        append { $0.append(contentsOf: bytes) }
    }

    /// Queues what `body` appends, and returns at once.
    func append(_ body: (inout [UInt8]) -> Void) {
        let mustWake = state.withLock { state in
            guard !state.isBroken else { return false }
            let before = state.bytes.count
            body(&state.bytes)
            state.total += state.bytes.count - before
            guard !state.isSignalled, state.bytes.count > before else { return false }
            state.isSignalled = true
            return true
        }
        if mustWake { wake() }
    }

    /// Queues `bytes`, then waits while too much is queued.
    ///
    /// - Throws: `.disconnected` if they will never be read, `.cancelled`.
    func write(_ bytes: [UInt8]) async throws(ServerError) {
        append(bytes)
        try await waitForRoom()
    }

    func waitForRoom() async throws(ServerError) {
        while true {
            let (isBroken, hasRoom) = state.withLock {
                ($0.isBroken, $0.bytes.count + $0.inFlight <= Self.highWater)
            }
            if isBroken { throw .disconnected }
            if hasRoom { return }
            if Task.isCancelled { throw .cancelled }
            await waitForFlush()
        }
    }

    private func waitForFlush() async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard !state.isBroken, state.bytes.count + state.inFlight > Self.highWater, !Task.isCancelled else {
                        return false
                    }
                    state.waiting[id] = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    // MARK: The loop thread

    /// Takes everything queued. Call `accepted` as the kernel takes it.
    func take() -> [UInt8] {
        state.withLock { state in
            state.isSignalled = false
            state.inFlight += state.bytes.count
            defer { state.bytes = [] }
            return state.bytes
        }
    }

    func accepted(_ count: Int) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.inFlight -= count
            guard !state.waiting.isEmpty, state.bytes.count + state.inFlight <= Self.highWater / 2 else { return [] }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Reading has ended: waiting writers fail, and later bytes are dropped.
    func fail() {
        let ready = state.withLock { state in
            state.isBroken = true
            state.bytes = []
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in ready { continuation.resume() }
    }
}

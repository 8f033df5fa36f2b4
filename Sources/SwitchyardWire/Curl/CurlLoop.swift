#if os(Linux)
    import CSwitchyardLibraries
    import Glibc
    import SwitchyardBytes
    import Synchronization

    /// The single thread that owns all libcurl handles of a transport. No other code uses them.
    ///
    /// Sendable by confinement: `queue`, `lifecycle` and the counters are thread-safe; all other properties are used only by
    /// the loop thread, which starts after `init` and is the only caller of the methods in `CurlLoop+…`.
    final class CurlLoop: @unchecked Sendable {
        private struct Lifecycle {
            var isStarted = false
            var isEnded = false
            /// Not `nil` while the loop runs and can be woken.
            var multi: SendableHandle?
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        let configuration: CurlConfiguration
        let live = LiveCount()
        /// The number of exchanges waiting for a slot of their origin.
        let waiting = LiveCount()
        /// The number of loop iterations so far.
        let turns = LiveCount()
        private let queue = CurlCommandQueue()
        private let lifecycle = Mutex(Lifecycle())

        var multi: ccurl_multi?
        /// Unused handles. They keep the TLS session; connections belong to the multi handle.
        var idleHandles: [ccurl_easy] = []
        var running: [CurlExchange] = []
        var origins: [String: CurlOrigin] = [:]
        /// No exchange can stall or be late before this time.
        var nextCheck: ContinuousClock.Instant?
        var connections: [CurlRawConnection] = []
        var pollSet: [ccurl_waitfd] = []
        let receiveBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 * 1024, alignment: 16)

        typealias ThreadStart = @Sendable (@escaping @Sendable () -> Void) throws(LoopThread.Refusal) -> Void

        private let startThread: ThreadStart

        init(_ configuration: CurlConfiguration, startThread: @escaping ThreadStart) {
            self.configuration = configuration
            self.startThread = startThread
        }

        deinit {
            receiveBuffer.deallocate()
        }

        // MARK: Any thread

        /// Returns `false` if the loop is ending, so that the command will not be executed.
        func submit(_ command: CurlCommand) -> Bool {
            switch queue.submit(command) {
            case .refused: return false
            case .queued:
                startOnce()
                return true
            case .queuedAsleep:
                wake()
                return true
            }
        }

        /// Starts to end everything in progress.
        func stop() {
            if queue.close() { wake() }
        }

        /// Returns when the loop has ended completely.
        func waitUntilEnded() async {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOver = lifecycle.withLock { state in
                    if !state.isStarted || state.isEnded { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        }

        private func wake() {
            lifecycle.withLock { state in
                if let multi = state.multi { _ = ccurl_multi_wakeup(multi.pointer) }
            }
        }

        private let hasStarted = Atomic(false)

        private func startOnce() {
            guard !hasStarted.load(ordering: .relaxed) else { return }
            let starts = lifecycle.withLock { state in
                defer { state.isStarted = true }
                return !state.isStarted
            }
            guard starts else { return }
            hasStarted.store(true, ordering: .relaxed)
            do throws(LoopThread.Refusal) {
                try startThread { self.run() }
            } catch {
                // The next command will try again.
                hasStarted.store(false, ordering: .relaxed)
                lifecycle.withLock { $0.isStarted = false }
                refuseQueued(
                    TransportError(
                        .outOfResources, "no thread could be started: \(SystemFailure(error.code))", isRetryable: true))
            }
        }

        // MARK: The loop thread

        private func run() {
            if let problem = ccurl_load() {
                refuseEverything(TransportError(.libraryUnavailable, String(cString: problem)))
            } else if let multi = ccurl_multi_new() {
                self.multi = multi
                ccurl_multi_set_long(multi, CCURL_MOPT_MAXCONNECTS, 256)
                ccurl_multi_set_long(multi, CCURL_MOPT_MAX_CONCURRENT_STREAMS, 256)
                lifecycle.withLock { $0.multi = SendableHandle(pointer: multi) }
                runLoop(multi)
                lifecycle.withLock { $0.multi = nil }
                tearDown(multi)
            } else {
                refuseEverything(TransportError(.outOfResources, "out of memory", isRetryable: true))
            }
            let waiters = lifecycle.withLock { state in
                state.isEnded = true
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        private func runLoop(_ multi: ccurl_multi) {
            var batch: [CurlCommand] = []
            while true {
                turns.value.add(1, ordering: .relaxed)
                let isEnding = queue.exchange(&batch)
                for command in batch { execute(command) }
                // Do not keep commands while asleep, since they hold exchanges.
                batch.removeAll(keepingCapacity: true)
                if isEnding { return }
                // What has arrived by now is read before anything is judged by this time.
                let start = ContinuousClock.now
                // Even if nothing is in progress: libcurl may still be closing a connection, and would be woken endlessly.
                var stillRunning: Int32 = 0
                ccurl_multi_perform(multi, &stillRunning)
                collectFinished(multi)
                endOverdue(at: start)
                let hasMore = serveConnections()
                guard !hasMore, queue.fallAsleep() else { continue }
                fillPollSet()
                ccurl_multi_poll(multi, &pollSet, UInt32(pollSet.count), millisecondsUntilCheck())
            }
        }

        /// Rounded up, and at most a minute.
        private func millisecondsUntilCheck() -> Int32 {
            guard let nextCheck else { return 60_000 }
            let (seconds, attoseconds) = (nextCheck - .now).components
            guard seconds < 60 else { return 60_000 }
            return max(0, Int32(seconds) * 1000 + Int32(attoseconds / 1_000_000_000_000_000) + 1)
        }

        private func execute(_ command: CurlCommand) {
            switch command {
            case .start(let exchange): start(exchange)
            case .cancel(let exchange): cancel(exchange)
            case .resumeReceiving(let exchange): resume(exchange, \.isReceivingPaused)
            case .resumeSending(let exchange): resume(exchange, \.isSendingPaused)
            case .open(let connection): open(connection)
            case .wake(let connection): connection.handleWake()
            case .run(let job): run(job)
            case .cancelConnection(let connection):
                close(connection, TransportError(.cancelled, "the connection was cancelled", mayHaveBeenSent: true))
            }
        }

        private func collectFinished(_ multi: ccurl_multi) {
            var result = 0
            while let easy = ccurl_multi_next_done(multi, &result) {
                let user = Unmanaged<AnyObject>.fromOpaque(ccurl_info_private(easy)).takeUnretainedValue()
                if let exchange = user as? CurlExchange {
                    finish(exchange, CurlErrors.error(result, for: exchange))
                } else if let connection = user as? CurlRawConnection {
                    connected(connection, result)
                }
            }
        }

        /// Answers all commands with an error until the transport is shut down, because the library cannot be used.
        private func refuseEverything(_ error: TransportError) {
            refusal.withLock { $0 = error }
            _ = queue.close()
            lifecycle.withLock { $0.multi = nil }
            refuseQueued(error)
        }

        private func refuseQueued(_ error: TransportError) {
            var batch: [CurlCommand] = []
            _ = queue.exchange(&batch)
            for command in batch {
                switch command {
                case .start(let exchange):
                    exchange.stage = .finished
                    exchange.deliver(error)
                case .open(let connection): connection.deliverClosed(error)
                case .run(let job): globalConcurrentExecutor.enqueue(job)
                case .cancel, .resumeReceiving, .resumeSending, .wake, .cancelConnection: break
                }
            }
        }

        /// Why a command was not accepted.
        let refusal = Mutex(TransportError(.shutDown, "the transport is shut down"))

        private func tearDown(_ multi: ccurl_multi) {
            let error = TransportError(.shutDown, "the transport is shut down")
            for exchange in running { exchange.abortReason = error }
            while let exchange = running.last { finish(exchange, mark(error, exchange), startsNext: false) }
            for origin in origins.values {
                for exchange in origin.takeAllWaiting() { exchange.deliver(error) }
            }
            origins = [:]
            while let connection = connections.last { close(connection, error) }
            for easy in idleHandles { ccurl_easy_free(easy) }
            idleHandles = []
            ccurl_multi_free(multi)
            self.multi = nil
        }

        private func mark(_ error: TransportError, _ exchange: CurlExchange) -> TransportError {
            TransportError(error.code, error.message, mayHaveBeenSent: exchange.mayHaveBeenSent)
        }
    }

    /// A handle that other threads may only wake: `curl_multi_wakeup` is the only function documented as callable from any
    /// thread, and a lock keeps the handle from being freed meanwhile.
    private struct SendableHandle: @unchecked Sendable {
        let pointer: ccurl_multi
    }
#endif

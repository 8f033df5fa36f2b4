#if os(Linux)
    import CSwitchyardCurl
    import Glibc
    import SwitchyardBytes
    import Synchronization

    /// Owns every libcurl handle of a transport, and the thread that waits for their sockets.
    ///
    /// Whoever holds `turn` may use the handles: the loop's thread, or one that submits a command and finds the turn free.
    /// What takes long, and what has its time, is left to the loop's thread.
    ///
    /// Sendable by confinement: `queue`, `lifecycle`, `turn` and the counts are safe by themselves; every other property is
    /// used by whoever has the turn, as are the methods in `CurlLoop+…` that do not say otherwise.
    final class CurlLoop: @unchecked Sendable {
        private struct Lifecycle {
            var isStarted = false
            var isEnded = false
            /// Non-null while the loop runs and may be woken.
            var poll: SendablePoll?
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        let configuration: CurlConfiguration
        let live = LiveCount()
        /// Exchanges that wait for one of their origin's places.
        let waiting = LiveCount()
        /// Turns of the loop's own thread so far.
        let turns = LiveCount()
        let clock = LoopClock()
        let queue = CurlCommandQueue()
        let turn = TurnLock()
        /// From before the first TLS connection on.
        private let usesTLS: Atomic<Bool>
        private let lifecycle = Mutex(Lifecycle())
        private let hasStarted = Atomic(false)

        var multi: ccurl_multi?
        var poll: cpoll?
        var batch: [CurlCommand] = []
        /// Of this turn.
        var outcomes: [CurlExchange.Outcome] = []
        /// Blank handles; they keep the TLS session, connections belong to the multi handle.
        var idleHandles: [ccurl_easy] = []
        var running: [CurlExchange] = []
        /// How many of them may share a connection.
        var sharingExchanges = 0
        var origins: [String: CurlOrigin] = [:]
        /// No exchange can stall, or be late, before.
        var nextCheck: ContinuousClock.Instant?
        /// When libcurl wants to be called, whatever happens on its sockets.
        var timeout: ContinuousClock.Instant?
        /// What the loop's thread believes about the two; a minute from now at most.
        var sleepsUntil = ContinuousClock.now
        var connections: [CurlRawConnection] = []
        /// Those that libcurl has left to us, by descriptor.
        var openConnections: [Int32: CurlRawConnection] = [:]
        /// Those of them that something has happened to.
        var dueConnections: [CurlRawConnection] = []
        let receiveBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 * 1024, alignment: 16)

        typealias ThreadStart = @Sendable (@escaping @Sendable () -> Void) throws(LoopThread.Refusal) -> Void

        private let startThread: ThreadStart

        init(_ configuration: CurlConfiguration, startThread: @escaping ThreadStart) {
            self.configuration = configuration
            usesTLS = Atomic(configuration.proxy.mayUseTLS)
            self.startThread = startThread
        }

        deinit {
            receiveBuffer.deallocate()
        }

        // MARK: Any thread

        /// `false` if the loop is ending, and the command will not be carried out.
        func submit(_ command: CurlCommand) -> Bool {
            guard queue.submit(command) else { return false }
            startOnce()
            // Cancellation happens under a lock of the task's.
            if command.isCancellation { wakeIfAsleep() } else { drive() }
            return true
        }

        /// `false` if the loop is ending, and somebody else has to run it.
        func submit(_ job: UnownedJob) -> Bool {
            guard queue.submit(job) else { return false }
            startOnce()
            wakeIfAsleep()
            return true
        }

        /// OpenSSL has no way of writing that spares the thread a SIGPIPE; the loop's own has them blocked.
        var mayRaiseSignals: Bool { usesTLS.load(ordering: .relaxed) }

        func expectTLS() {
            if !usesTLS.load(ordering: .relaxed) { usesTLS.store(true, ordering: .relaxed) }
        }

        /// Begins to end everything under way.
        func stop() {
            queue.close()
            wakeIfAsleep()
        }

        /// Returns when nothing is left of the loop.
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

        func wakeIfAsleep() {
            guard queue.mustWake() else { return }
            lifecycle.withLock { state in
                if let poll = state.poll { cpoll_wake(poll.pointer) }
            }
        }

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
                // The next command tries again.
                hasStarted.store(false, ordering: .relaxed)
                lifecycle.withLock { $0.isStarted = false }
                refuseQueued(
                    TransportError(
                        .outOfResources, "no thread could be started (error \(error.code))", isRetryable: true))
            }
        }

        // MARK: The loop thread

        private func run() {
            turn.lock()
            if let problem = ccurl_load() {
                refuseEverything(TransportError(.libraryUnavailable, String(cString: problem)))
            } else if let poll = cpoll_new(), let multi = ccurl_multi_new() {
                ccurl_multi_set_long(multi, CCURL_MOPT_MAXCONNECTS, 256)
                ccurl_multi_set_long(multi, CCURL_MOPT_MAX_CONCURRENT_STREAMS, 256)
                install(in: multi)
                (self.multi, self.poll) = (multi, poll)
                lifecycle.withLock { $0.poll = SendablePoll(pointer: poll) }
                turn.unlock()
                takeTurns(multi, poll)
                lifecycle.withLock { $0.poll = nil }
                turn.lock()
                tearDown(multi)
                self.poll = nil
                cpoll_free(poll)
                for outcome in outcomes { outcome.deliver() }
                outcomes = []
            } else {
                refuseEverything(
                    TransportError(.outOfResources, "out of memory or file descriptors", isRetryable: true))
            }
            turn.unlock()
            let waiters = lifecycle.withLock { state in
                state.isEnded = true
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        /// The library cannot be used: answers every command until somebody shuts the transport down.
        private func refuseEverything(_ error: TransportError) {
            refusal.withLock { $0 = error }
            queue.close()
            refuseQueued(error)
        }

        private func refuseQueued(_ error: TransportError) {
            var batch: [CurlCommand] = []
            var jobs: [UnownedJob] = []
            _ = queue.exchange(&batch, &jobs)
            for job in jobs { globalConcurrentExecutor.enqueue(job) }
            for command in batch {
                switch command {
                case .start(let exchange):
                    exchange.stage = .finished
                    exchange.conclude(error)?.deliver()
                case .open(let connection): connection.deliverClosed(error)
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
                for exchange in origin.takeAllWaiting() { conclude(exchange, error) }
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

    /// The time of the current turn; for whoever has it.
    final class LoopClock: @unchecked Sendable {
        // Only who has the turn touches it.
        private(set) var now = ContinuousClock.now

        func update() {
            now = ContinuousClock.now
        }

        /// Rounded up.
        func millisecondsUntil(_ instant: ContinuousClock.Instant) -> Int32 {
            let (seconds, attoseconds) = (instant - now).components
            return max(0, Int32(seconds) * 1000 + Int32(attoseconds / 1_000_000_000_000_000) + 1)
        }
    }

    /// What other threads may only wake; the lock around it keeps it from being freed meanwhile.
    private struct SendablePoll: @unchecked Sendable {
        let pointer: cpoll
    }

    extension CurlCommand {
        fileprivate var isCancellation: Bool {
            switch self {
            case .cancel, .cancelConnection: true
            case .start, .resumeReceiving, .resumeSending, .open, .wake: false
            }
        }
    }

    extension CurlConfiguration.Proxy {
        /// Whether clear-text requests may go over TLS, as far as the proxy.
        fileprivate var mayUseTLS: Bool {
            switch self {
            case .none: false
            case .address(let address): address.lowercased().hasPrefix("https:")
            case .environment:
                ["http_proxy", "all_proxy", "ALL_PROXY"].contains { (name: String) in
                    getenv(name).map { String(cString: $0).lowercased().hasPrefix("https:") } ?? false
                }
            }
        }
    }
#endif

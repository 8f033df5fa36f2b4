#if os(Linux)
    import CSwitchyardCurl
    import Synchronization

    // Turns with libcurl's handles: those of the loop's own thread, and the short ones of whoever submits a command.
    extension CurlLoop {
        /// How many commands a thread that is not the loop's carries out in one turn.
        private static let shortTurn = 32

        /// Carries out what is queued on this thread, unless somebody has the turn: who has looks at the queue after it.
        ///
        /// So a request leaves without another thread being woken; the loop wakes for its answer, of whose socket it learns
        /// while it sleeps.
        func drive() {
            while turn.tryLock() {
                let isGuarded = mayRaiseSignals && csigpipe_block()
                let needsLoop = takeShortTurn()
                var outcomes: [CurlExchange.Outcome] = []
                if !self.outcomes.isEmpty { swap(&outcomes, &self.outcomes) }
                turn.unlock()
                for outcome in outcomes { outcome.deliver() }
                if isGuarded { csigpipe_allow() }
                if needsLoop { return wakeIfAsleep() }
                guard !queue.isEmpty else { return }
            }
        }

        /// Whether something is left that only the loop does: what takes long, and what has its time.
        private func takeShortTurn() -> Bool {
            // Before its first turn and after its last the loop sees to everything.
            guard let multi, queue.take(&batch, atMost: Self.shortTurn) else { return true }
            clock.update()
            carryOutBatch()
            actOnTime(multi)
            collectFinished(multi)
            settleConnections()
            return !dueConnections.isEmpty || nextWake.map { $0 < sleepsUntil } ?? false
        }

        /// The loop's own turns, until it is told to end.
        func takeTurns(_ multi: ccurl_multi, _ poll: cpoll) {
            var ready = [cpoll_event](repeating: cpoll_event(), count: 128)
            var jobs: [UnownedJob] = []
            var outcomes: [CurlExchange.Outcome] = []
            var count = 0
            while true {
                turn.lock()
                turns.value.add(1, ordering: .relaxed)
                clock.update()
                let isEnding = queue.exchange(&batch, &jobs)
                carryOutBatch()
                if !isEnding { takeTurn(multi, ready[..<count]) }
                let sleeps = dueConnections.isEmpty
                planSleep()
                let milliseconds = clock.millisecondsUntil(sleepsUntil)
                swap(&outcomes, &self.outcomes)
                turn.unlock()
                for outcome in outcomes { outcome.deliver() }
                outcomes.removeAll(keepingCapacity: true)
                for job in jobs { run(job) }
                jobs.removeAll(keepingCapacity: true)
                if isEnding { return }
                let waits = sleeps && queue.fallAsleep()
                count = Int(cpoll_wait(poll, &ready, Int32(ready.count), waits ? milliseconds : 0))
            }
        }

        private func takeTurn(_ multi: ccurl_multi, _ ready: ArraySlice<cpoll_event>) {
            for event in ready {
                if let connection = openConnections[event.fd] {
                    connection.handleReady(event.events)
                    serveLater(connection)
                } else if sharingExchanges == 0 {
                    ccurl_multi_act(multi, event.fd, event.events & Int32(CCURL_ACT_IN | CCURL_ACT_OUT))
                }
            }
            // Versions of libcurl have lost sight of exchanges that share a connection, when told of its socket alone.
            if sharingExchanges > 0 { ccurl_multi_act_on_all(multi) }
            actOnTime(multi)
            collectFinished(multi)
            endOverdue()
            serveConnections()
        }

        private func carryOutBatch() {
            for command in batch { execute(command) }
            // Not kept while asleep: commands hold exchanges.
            batch.removeAll(keepingCapacity: true)
        }

        /// For what has just been started, too. It may have something to do at once, once more, but not without end.
        private func actOnTime(_ multi: ccurl_multi) {
            for _ in 0..<4 {
                guard let due = timeout, due <= clock.now else { return }
                timeout = nil
                ccurl_multi_act_on_time(multi)
            }
        }

        /// When the loop has something to do, whatever happens.
        private var nextWake: ContinuousClock.Instant? {
            guard let timeout, let nextCheck else { return timeout ?? nextCheck }
            return min(timeout, nextCheck)
        }

        /// Waking earlier than needed, now and then, spares a wake-up for each request: every one brings a limit on the time to
        /// connect, and takes it away when it is done.
        private func planSleep() {
            let latest = clock.now + .seconds(60)
            let planned = sleepsUntil > clock.now ? sleepsUntil : latest
            sleepsUntil = min(planned, nextWake ?? latest)
        }

        private func execute(_ command: CurlCommand) {
            switch command {
            case .start(let exchange): start(exchange)
            case .cancel(let exchange): cancel(exchange)
            case .resumeReceiving(let exchange): resume(exchange, \.isReceivingPaused)
            case .resumeSending(let exchange): resume(exchange, \.isSendingPaused)
            case .open(let connection): open(connection)
            case .wake(let connection):
                connection.handleWake()
                serveLater(connection)
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

        // MARK: What libcurl asks for

        func install(in multi: ccurl_multi) {
            ccurl_multi_set_callbacks(
                multi, watchSocketCallback, setTimeoutCallback, Unmanaged.passUnretained(self).toOpaque())
        }

        func watch(_ descriptor: Int32, _ events: Int32) {
            guard let poll, openConnections[descriptor] == nil else { return }
            if Int(events) == CCURL_WATCH_REMOVE || Int(events) == CCURL_WATCH_NONE {
                cpoll_forget(poll, descriptor)
            } else {
                cpoll_watch(poll, descriptor, events)
            }
        }

        func setTimeout(_ milliseconds: Int) {
            timeout = milliseconds < 0 ? nil : clock.now + .milliseconds(milliseconds)
        }
    }
#endif

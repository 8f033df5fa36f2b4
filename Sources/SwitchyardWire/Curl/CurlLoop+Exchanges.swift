#if os(Linux)
    import CSwitchyardLibraries
    import Synchronization

    // Everything here runs on the loop thread.
    extension CurlLoop {
        func start(_ exchange: CurlExchange) {
            guard !exchange.isCancelled.load(ordering: .relaxed) else {
                exchange.stage = .finished
                exchange.deliver(TransportError(.cancelled, "the exchange was cancelled"))
                return
            }
            let origin =
                origins[exchange.origin]
                ?? CurlOrigin(configuration, mayShareConnection: exchange.origin.hasPrefix("https:"))
            origins[exchange.origin] = origin
            switch origin.admit(exchange) {
            case .enters:
                if let deadline = exchange.deadline { check(by: deadline) }
                begin(exchange)
            case .waits:
                if let deadline = exchange.deadline { check(by: deadline) }
                exchange.stage = .waiting
            case .refused:
                exchange.stage = .finished
                exchange.deliver(CurlErrors.overloaded(exchange))
            }
        }

        private func begin(_ exchange: CurlExchange) {
            guard let multi, let easy = idleHandles.popLast() ?? ccurl_easy_new() else {
                exchange.stage = .finished
                exchange.deliver(TransportError(.outOfResources, "out of memory", isRetryable: true))
                release(exchange)
                return
            }
            exchange.easy = easy
            exchange.stage = .running
            exchange.position = running.count
            running.append(exchange)
            if let limit = exchange.request.idleLimit {
                // The idle watch itself starts when the request is written, which cannot be earlier.
                check(by: .now + limit)
            }
            do throws(TransportError) {
                try exchange.prepare(easy, configuration)
                let result = ccurl_multi_add(multi, easy)
                guard result == 0 else { throw TransportError(.unknown, "libcurl reports error \(result)") }
            } catch {
                finish(exchange, error)
            }
        }

        func cancel(_ exchange: CurlExchange) {
            end(
                exchange,
                TransportError(.cancelled, "the exchange was cancelled", mayHaveBeenSent: exchange.mayHaveBeenSent))
        }

        /// Ends an exchange in any stage.
        private func end(_ exchange: CurlExchange, _ error: TransportError) {
            switch exchange.stage {
            case .running: finish(exchange, error)
            case .waiting:
                exchange.stage = .finished
                origins[exchange.origin]?.forget(exchange)
                exchange.deliver(error)
            case .new, .finished: break
            }
        }

        /// Removes the exchange from libcurl and delivers its outcome. Running exchanges end only here.
        func finish(_ exchange: CurlExchange, _ error: TransportError?, startsNext: Bool = true) {
            guard exchange.stage == .running, let easy = exchange.easy else { return }
            exchange.stage = .finished
            exchange.easy = nil
            let last = running.removeLast()
            if last !== exchange {
                running[exchange.position] = last
                last.position = exchange.position
            }
            ccurl_multi_remove(multi, easy)
            ccurl_easy_reset(easy)
            if idleHandles.count < 256 { idleHandles.append(easy) } else { ccurl_easy_free(easy) }
            if let list = exchange.headerList {
                ccurl_list_free(list)
                exchange.headerList = nil
            }
            exchange.deliver(error)
            if startsNext { release(exchange) }
        }

        func resume(_ exchange: CurlExchange, _ direction: ReferenceWritableKeyPath<CurlExchange, Bool>) {
            guard exchange.stage == .running else { return }
            exchange[keyPath: direction] = false
            exchange.idleWatch?.restart(at: .now)
            applyPause(exchange)
        }

        private func check(by time: ContinuousClock.Instant) { nextCheck = min(nextCheck ?? time, time) }

        /// Ends the exchanges past their deadline, and those that have transferred too little for too long.
        ///
        /// - Parameter now: A time before the loop last read.
        func endOverdue(at now: ContinuousClock.Instant) {
            guard let due = nextCheck, now >= due else { return }
            nextCheck = nil
            endLate(at: now)
            endStalled(at: now)
        }

        private func endLate(at now: ContinuousClock.Instant) {
            var late: [CurlExchange] = []
            func examine(at exchange: CurlExchange) {
                guard let deadline = exchange.deadline else { return }
                if now >= deadline { late.append(exchange) } else { check(by: deadline) }
            }
            for exchange in running { examine(at: exchange) }
            for origin in origins.values { for exchange in origin.waitingOnes { examine(at: exchange) } }
            for exchange in late {
                end(
                    exchange,
                    .late(
                        mayHaveBeenSent: exchange.mayHaveBeenSent, isIdempotent: exchange.request.isIdempotent))
            }
        }

        private func endStalled(at now: ContinuousClock.Instant) {
            var stalled: [CurlExchange] = []
            for exchange in running {
                guard var watch = exchange.idleWatch else {
                    // The request is not written yet, so its watch starts later. Check again at this time.
                    if let limit = exchange.request.idleLimit { check(by: now + limit) }
                    continue
                }
                if exchange.isReceivingPaused || exchange.isSendingPaused {
                    watch.restart(at: now)
                } else if watch.isStalled(at: now) {
                    stalled.append(exchange)
                    continue
                }
                exchange.idleWatch = watch
                check(by: watch.deadline)
            }
            for exchange in stalled { finish(exchange, CurlErrors.stalled(exchange)) }
        }

        /// `curl_easy_pause` sets both directions, so both are always passed.
        func applyPause(_ exchange: CurlExchange) {
            guard exchange.stage == .running, let easy = exchange.easy else { return }
            var state = 0
            if exchange.isReceivingPaused { state |= CCURL_PAUSE_RECEIVING }
            if exchange.isSendingPaused { state |= CCURL_PAUSE_SENDING }
            // This may deliver buffered data, and so fail or pause again.
            let result = ccurl_pause(easy, state)
            if result != CCURL_OK { finish(exchange, CurlErrors.error(result, for: exchange)) }
        }

        private func release(_ exchange: CurlExchange) {
            guard let origin = origins[exchange.origin] else { return }
            origin.leave(exchange)
            if exchange.wasAnsweredInHTTP1 { origin.mayShareConnection = false }
            while let next = origin.admitNext() { begin(next) }
            if origin.isIdle { origins[exchange.origin] = nil }
        }
    }
#endif

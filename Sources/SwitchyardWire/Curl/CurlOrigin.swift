#if os(Linux)
    /// The exchanges with one origin: a limited number in progress, a limited number waiting in order, and separately the
    /// streams that stay open, which could otherwise occupy all slots.
    final class CurlOrigin {
        /// The usual number of streams per HTTP/2 connection, as recommended by the protocol.
        static let usualStreams = 100

        enum Admission { case enters, waits, refused }

        private let limits: CurlConfiguration
        private var active = 0
        /// Those of them whose answer is collected, so that they end soon.
        private var brief = 0
        private var openStreams = 0
        /// Whether exchanges may share an HTTP/2 connection. More exchanges than one connection can carry would each open
        /// another, so they wait for a free stream. An HTTP/1 answer shows that the connection cannot be shared.
        var mayShareConnection: Bool
        private var calls = ExchangeQueue()
        private var streams = ExchangeQueue()

        init(_ limits: CurlConfiguration, mayShareConnection: Bool) {
            self.limits = limits
            self.mayShareConnection = mayShareConnection
        }

        /// Whether nothing is in progress, so that nothing waits either.
        var isIdle: Bool { active == 0 && openStreams == 0 }

        func admit(_ exchange: CurlExchange) -> Admission {
            if hasRoom(for: exchange) {
                enter(exchange)
                return .enters
            }
            let isFull = (exchange.staysOpen ? streams.count : calls.count) >= limits.maximumWaitingPerOrigin
            guard !isFull else { return .refused }
            if exchange.staysOpen { streams.append(exchange) } else { calls.append(exchange) }
            return .waits
        }

        /// Starts the next waiting exchange for which there is room.
        func admitNext() -> CurlExchange? {
            let next = calls.removeFirst(where: hasRoom) ?? streams.removeFirst(where: hasRoom)
            if let next { enter(next) }
            return next
        }

        /// Removes a waiting exchange that has ended.
        func forget(_ exchange: CurlExchange) {
            if exchange.staysOpen { streams.forgetOne() } else { calls.forgetOne() }
        }

        /// Frees the slot of an exchange that has ended.
        func leave(_ exchange: CurlExchange) {
            if exchange.staysOpen {
                openStreams -= 1
            } else {
                active -= 1
                if exchange.isBrief { brief -= 1 }
            }
        }

        var waitingOnes: [CurlExchange] { calls.all + streams.all }

        func takeAllWaiting() -> [CurlExchange] {
            defer {
                calls = ExchangeQueue()
                streams = ExchangeQueue()
            }
            return waitingOnes
        }

        private func hasRoom(for exchange: CurlExchange) -> Bool {
            if exchange.staysOpen { return openStreams < max(1, limits.maximumOpenStreamsPerOrigin) }
            return active < max(1, limits.maximumExchangesPerOrigin)
                && !(mayShareConnection && exchange.isBrief && brief >= Self.usualStreams)
        }

        private func enter(_ exchange: CurlExchange) {
            if exchange.staysOpen {
                openStreams += 1
            } else {
                active += 1
                if exchange.isBrief { brief += 1 }
            }
        }
    }

    /// Waiting exchanges in order. Ended ones are skipped, and occupy memory only for a while.
    private struct ExchangeQueue {
        private var waiting: [CurlExchange] = []
        private var next = 0
        /// The number of exchanges still waiting.
        private(set) var count = 0

        var all: [CurlExchange] { waiting[next...].filter { $0.stage == .waiting } }

        mutating func append(_ exchange: CurlExchange) {
            waiting.append(exchange)
            count += 1
        }

        /// Call this once for each exchange that stopped waiting other than through ``removeFirst(where:)``.
        mutating func forgetOne() {
            count -= 1
            let gone = waiting.count - next - count
            if gone > 64, gone > count { compact() }
        }

        mutating func removeFirst(where isWelcome: (CurlExchange) -> Bool) -> CurlExchange? {
            while next < waiting.count {
                let exchange = waiting[next]
                if exchange.stage == .waiting, !isWelcome(exchange) { return nil }
                next += 1
                if next > 1024, next * 2 > waiting.count {
                    waiting.removeFirst(next)
                    next = 0
                }
                if exchange.stage == .waiting {
                    count -= 1
                    return exchange
                }
            }
            waiting.removeAll(keepingCapacity: true)
            next = 0
            return nil
        }

        private mutating func compact() {
            waiting = all
            next = 0
        }
    }
#endif

#if os(Linux)
    /// The exchanges with one origin: a bounded number under way, a bounded number of others in order of arrival, and beside
    /// them the streams that stay open, which could keep the places of all others.
    final class CurlOrigin {
        /// How many streams servers let one HTTP/2 connection carry, as the protocol recommends and most do.
        static let usualStreams = 100

        enum Admission { case enters, waits, refused }

        private let limits: CurlConfiguration
        private var active = 0
        /// Those of them whose answer is taken as a whole, so that they end soon.
        private var brief = 0
        private var openStreams = 0
        /// Whether this may be HTTP/2. Beyond what one connection carries, each exchange would open one of its own; so it
        /// waits for a place on the connection that there is. An answer in HTTP/1 shows that there is no such thing.
        var mayShareConnection: Bool
        private var calls = WaitingLine()
        private var streams = WaitingLine()

        init(_ limits: CurlConfiguration, mayShareConnection: Bool) {
            self.limits = limits
            self.mayShareConnection = mayShareConnection
        }

        /// Whether nothing is under way. Then nothing waits either.
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

        /// The next one that waits and for which there is room, now under way.
        func admitNext() -> CurlExchange? {
            let next = calls.removeFirst(where: hasRoom) ?? streams.removeFirst(where: hasRoom)
            if let next { enter(next) }
            return next
        }

        /// One that waited and has come to an end: its place is another's at once.
        func forget(_ exchange: CurlExchange) {
            if exchange.staysOpen { streams.forgetOne() } else { calls.forgetOne() }
        }

        /// One that was under way has come to its end.
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
                calls = WaitingLine()
                streams = WaitingLine()
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

    /// First come, first served. Whoever has ended while waiting is skipped, and takes up room for a while only.
    private struct WaitingLine {
        private var waiting: [CurlExchange] = []
        private var next = 0
        /// Those that still wait.
        private(set) var count = 0

        var all: [CurlExchange] { waiting[next...].filter { $0.stage == .waiting } }

        mutating func append(_ exchange: CurlExchange) {
            waiting.append(exchange)
            count += 1
        }

        /// Call this once for each that has left the stage of waiting otherwise than by ``removeFirst(where:)``.
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

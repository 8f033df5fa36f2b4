#if os(Linux)
    import SwitchyardURLSession
    import SwitchyardWire

    /// Small requests: how many per second, at what cost, and how late the last of a hundred is.
    struct HTTPRequestSection: BenchSection {
        let name = "http-requests"

        func run(_ bench: Bench) async throws {
            let server = try HTTPBenchServer(section: name)
            defer { server.stop() }
            let request = HTTPRequest(.get, server.url + "/small")
            let ours = CurlTransport()
            let session = URLSessionTransport()

            let bare = try await sequential(bench, request, ours, session)
            for concurrency in [16, 64] { try await concurrent(bench, request, ours, session, concurrency, bare) }
            try await lateness(bench, request, ours, bare)
            await ours.shutDown()
            await session.shutDown()
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            try await HTTPBenchServer.serve()
            return 0
        }

        /// The cost of a request in the blocking loop, as the baseline for this machine. Marks in absolute time were set where
        /// it took 13.3 µs, with 10 µs of processor time; next to each is the same mark as a multiple of that.
        private struct Bare {
            let seconds: Double
            let cpuSeconds: Double
        }

        private func sequential(
            _ bench: Bench, _ request: HTTPRequest, _ ours: CurlTransport, _ session: URLSessionTransport
        ) async throws -> Bare {
            let count = bench.settings.count(20_000, quick: 500)
            let few = bench.settings.count(2_000, quick: 100)
            let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run([
                .init("blocking libcurl") { try await BlockingCurl.requests(request.url, count: count) },
                .init("switchyard") { try await Self.send(request, over: ours, count: count, concurrency: 1) },
                .init("URLSession") { try await Self.send(request, over: session, count: few, concurrency: 1) },
            ])
            let rates = [Double(count), Double(count), Double(few)]
            for (result, count) in zip(results, rates) {
                await bench.report("sequential, \(result.name)", count / result.seconds, "req/s")
            }
            for (result, count) in zip(results, rates) {
                await bench.report("sequential, \(result.name), CPU per request", result.cpuSeconds / count * 1e6, "µs")
            }
            for (result, count) in zip(results, rates) {
                await bench.report("sequential, \(result.name), wake-ups per request", result.wakeUps / count, "")
            }
            await bench.report(
                "sequential, share of blocking libcurl", results[0].seconds / results[1].seconds, "×", .atLeast(0.6))
            return Bare(seconds: results[0].seconds / rates[0], cpuSeconds: results[0].cpuSeconds / rates[0])
        }

        private func concurrent(
            _ bench: Bench, _ request: HTTPRequest, _ ours: CurlTransport, _ session: URLSessionTransport,
            _ concurrency: Int, _ bare: Bare
        ) async throws {
            let count = bench.settings.count(32_000, quick: 1_280)
            let few = bench.settings.count(3_200, quick: 640)
            let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run([
                .init("switchyard") {
                    try await Self.send(request, over: ours, count: count, concurrency: concurrency)
                },
                .init("URLSession") {
                    try await Self.send(request, over: session, count: few, concurrency: concurrency)
                },
            ])
            let rate = Double(count) / results[0].seconds
            let other = Double(few) / results[1].seconds
            let title = "\(concurrency) at once"
            await bench.report("\(title), switchyard", rate, "req/s")
            await bench.report("\(title), URLSession", other, "req/s")
            await bench.report("\(title), times URLSession", rate / other, "×", .atLeast(8))
            await bench.report(
                "\(title), URLSession, CPU per request", results[1].cpuSeconds / Double(few) * 1e6, "µs")
            let cpu = results[0].cpuSeconds / Double(count)
            await bench.report("\(title), client CPU per request", cpu * 1e6, "µs", .atMost(20))
            await bench.report(
                "\(title), client CPU against blocking libcurl's", cpu / bare.cpuSeconds, "×", .atMost(2))
        }

        private func lateness(
            _ bench: Bench, _ request: HTTPRequest, _ ours: CurlTransport, _ bare: Bare
        ) async throws {
            let count = bench.settings.count(500, quick: 20)
            var rounds: [Double] = []
            for _ in 0..<bench.settings.count(5, quick: 1) {
                let times = try await withThrowingTaskGroup(of: [Double].self) { group in
                    for _ in 0..<64 { group.addTask { try await Self.times(request, ours, count) } }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                rounds.append(Statistics.percentile(times, 0.99))
            }
            let late = Statistics.median(rounds)
            await bench.report("64 at once, p99", late * 1000, "ms", .atMost(3))
            await bench.report(
                "64 at once, p99 against 64 blocking requests in turn", late / (64 * bare.seconds), "×", .atMost(3.5))
        }

        private static func times(
            _ request: HTTPRequest, _ transport: CurlTransport, _ count: Int
        ) async throws -> [Double] {
            var times: [Double] = []
            for _ in 0..<count {
                let start = ContinuousClock.now
                _ = try await transport.send(request)
                times.append((ContinuousClock.now - start).inSeconds)
            }
            return times
        }

        private static func send(
            _ request: HTTPRequest, over transport: some Transport, count: Int, concurrency: Int
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<concurrency {
                    group.addTask {
                        for _ in 0..<(count / concurrency) {
                            let response = try await transport.send(request)
                            guard response.body.count == HTTPBenchServer.smallBody.count else {
                                throw BenchFailure("a wrong answer")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
#endif

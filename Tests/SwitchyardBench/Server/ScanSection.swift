#if os(Linux)
    import Switchyard
    import SwitchyardSupabase
    import SwitchyardWire
    import Synchronization

    /// Reads all documents of a large collection page by page, compared with the bare download of the same pages; and the
    /// memory used.
    struct ScanSection: BenchSection {
        let name = "scans"

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings, area: bench.area)
            defer { site.stop() }
            let size = Self.size(bench.settings)
            let recorder = BodyRecorder()
            let first = try await Infrastructure(SupabaseModule(site.configuration) { recorder })
            try await Self.scan(first.actingAsProject().storage, size)
            await first.shutDown()
            let bodies = recorder.bodies
            let backend = try await Infrastructure(SupabaseModule(site.configuration))
            let storage = try await backend.actingAsProject().storage
            let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run([
                .init("blocking libcurl") {
                    try await BlockingCurl.posts(
                        site.url(ofFunction: "switchyard_query"), headers: site.headers, count: bodies.count
                    ) { bodies[$0] }
                },
                .init("forEachDocument") { try await Self.scan(storage, size) },
            ])
            await bench.report("\(size) documents, pages", Double(bodies.count), "")
            for result in results {
                await bench.report("\(size) documents, \(result.name)", result.seconds, "s")
            }
            await bench.report(
                "\(size) documents, time of the bare download", results[1].seconds / results[0].seconds, "×",
                .atMost(1.2))
            // On an idle machine, the server's work on the next page hides most of this.
            await bench.report(
                "\(size) documents, processor time of each, the bare download's taken off",
                (results[1].cpuSeconds - results[0].cpuSeconds) / Double(size) * 1e6, "µs")
            let growth = try await bench.inChild(
                "memory \(site.url) \(site.key) \(site.serviceKey)", rounds: bench.settings.count(3, quick: 1))
            await bench.report("\(size) documents, resident growth", growth / 1_048_576, "MB", .atMost(24))
            await backend.shutDown()
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            let words = task.split(separator: " ").map(String.init)
            if words == ["serve"] {
                try await SupabaseBenchSite.serve(filling: Self.filling(Self.size(settings)))
                return 0
            }
            guard words.count == 4, words[0] == "memory" else { throw BenchFailure("no such task") }
            let configuration = SupabaseConfiguration(
                url: words[1], key: Secret(words[2]), serviceKey: Secret(words[3]))
            let backend = try await Infrastructure(SupabaseModule(configuration))
            let storage = try await backend.actingAsProject().storage
            // A small read first, so that everything loaded once is loaded.
            _ = try await storage.documents(Query(in: "posts").limited(to: 1), from: .server)
            let before = Usage.peakResidentBytes
            try await Self.scan(storage, Self.size(settings))
            let growth = Usage.peakResidentBytes - before
            await backend.shutDown()
            return Double(growth)
        }

        private static func size(_ settings: BenchSettings) -> Int { settings.count(200_000, quick: 2_000) }

        private static func scan(_ storage: any StorageClient, _ size: Int) async throws {
            let seen = Atomic(0)
            try await storage.forEachDocument(Query(in: "posts")) { document in
                guard document["n"] != nil else { throw BenchFailure("a wrong answer") }
                seen.wrappingAdd(1, ordering: .relaxed)
            }
            let count = seen.load(ordering: .relaxed)
            guard count == size else { throw BenchFailure("\(count) of \(size) documents") }
        }

        private static func filling(_ size: Int) -> String {
            """
            set session_replication_role = replica;
            insert into switchyard.documents (path, data, owner, created_at, updated_at)
              select 'posts/p' || lpad(n::text, 6, '0'),
                     jsonb_build_object('n', n, 'score', (n * 7919 % 100000) / 10.0, 'city', 'c' || n % 1000,
                                        'tags', jsonb_build_array('t' || n % 500, 'u' || n % 300)),
                     'u' || n % 100, now(), now()
              from generate_series(1, \(size)) n;
            vacuum analyze switchyard.documents;
            """
        }
    }

    /// Records what is sent, so that a bare client can send the same.
    private final class BodyRecorder: Transport {
        private let base = CurlTransport()
        private let sent = Mutex<[[UInt8]]>([])
        var bodies: [[UInt8]] { sent.withLock { $0 } }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            if request.url.hasSuffix("/switchyard_query") { sent.withLock { $0.append(request.body) } }
            return try await base.send(request)
        }
        func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
            try await base.stream(request)
        }
        func upload(
            _ request: HTTPRequest, body: RequestBody, progress: SwitchyardWire.TransferProgress?
        ) async throws(TransportError) -> HTTPResponse {
            try await base.upload(request, body: body, progress: progress)
        }
        func download(
            _ request: HTTPRequest, to file: FileDestination, progress: SwitchyardWire.TransferProgress?
        ) async throws(TransportError) -> HTTPResponse {
            try await base.download(request, to: file, progress: progress)
        }
        func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
            try await base.webSocket(request)
        }
        func shutDown() async { await base.shutDown() }
    }
#endif

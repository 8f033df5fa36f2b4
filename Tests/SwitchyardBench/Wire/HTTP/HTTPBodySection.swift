#if os(Linux)
    import Foundation
    import SwitchyardWire

    /// Large bodies: to a file, from a file, and to a slow consumer.
    struct HTTPBodySection: BenchSection {
        let name = "http-bodies"

        func run(_ bench: Bench) async throws {
            let server = try HTTPBenchServer(section: name)
            defer { server.stop() }
            let size = bench.settings.count(1 << 30, quick: 1 << 24)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let ours = CurlTransport()

            let file = folder.appendingPathComponent("body").path
            try await toFile(bench, "\(server.url)/large/\(size)", file, ours)
            try await fromFile(bench, server.url + "/", file, Int64(size), ours)
            await ours.shutDown()

            let growth = try await bench.inChild("slow \(server.url)/large/\(size)", rounds: 1)
            await bench.report("slow consumer, resident growth", growth / 1e6, "MB", .atMost(2))
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            if task == "serve" {
                try await HTTPBenchServer.serve()
                return 0
            }
            return try await slowConsumer(String(task.dropFirst(5)))
        }

        private func toFile(_ bench: Bench, _ url: String, _ file: String, _ ours: CurlTransport) async throws {
            let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run([
                .init("blocking libcurl") {
                    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                    defer { close(descriptor) }
                    try await BlockingCurl.download(url, to: descriptor)
                },
                .init("switchyard") {
                    _ = try await ours.download(HTTPRequest(.get, url), to: FileDestination(file))
                },
            ])
            await report(bench, "to file", results)
        }

        private func fromFile(
            _ bench: Bench, _ url: String, _ file: String, _ size: Int64, _ ours: CurlTransport
        ) async throws {
            let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run([
                .init("blocking libcurl") {
                    let descriptor = open(file, O_RDONLY)
                    defer { close(descriptor) }
                    try await BlockingCurl.upload(url, from: descriptor, size: size)
                },
                .init("switchyard") {
                    let response = try await ours.upload(HTTPRequest(.put, url), body: .file(file))
                    guard response.body == Array("\(size)".utf8) else { throw BenchFailure("a wrong answer") }
                },
            ])
            await report(bench, "from file", results)
        }

        private func report(_ bench: Bench, _ title: String, _ results: [BenchComparison.Result]) async {
            let size = Double(bench.settings.count(1 << 30, quick: 1 << 24))
            for result in results {
                await bench.report("\(title), \(result.name)", size / result.seconds / 1e9, "GB/s")
            }
            await bench.report(
                "\(title), time against blocking libcurl", results[1].seconds / results[0].seconds, "×", .atMost(1.15))
        }

        /// The peak growth of resident memory while a body is read with pauses.
        private func slowConsumer(_ url: String) async throws -> Double {
            let transport = CurlTransport()
            // Once at full speed, so that everything that grows once has grown.
            let base = url[..<(url.lastIndex(of: "/") ?? url.endIndex)]
            for try await _ in try await transport.stream(HTTPRequest(.get, "\(base)/50000000")).body {}
            let before = Usage.residentBytes
            var peak = before
            for try await _ in try await transport.stream(HTTPRequest(.get, url)).body {
                try await Task.sleep(for: .milliseconds(1))
                peak = max(peak, Usage.residentBytes)
            }
            await transport.shutDown()
            return Double(peak - before)
        }
    }
#endif

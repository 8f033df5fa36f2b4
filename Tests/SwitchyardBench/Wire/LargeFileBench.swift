#if os(Linux)
    import Foundation
    import Switchyard

    /// A file storage for large files: the vendor-specific part.
    protocol LargeFileSite: Sendable {
        /// Identifies the site for a separate process; without spaces.
        var place: String { get }
        /// The URL of the file "film", and the header fields of a plain client.
        var address: String { get }
        var headers: [String] { get }

        func client() async throws -> any FileStorageClient
        /// Makes the same requests as the client's upload of "film", one at a time.
        func plainUpload(_ file: URL, _ size: Int) async throws
    }

    /// A large file to a file storage and back, against a plain loop with the same requests.
    enum LargeFileBench {
        /// - Parameter share: The expected fraction of the plain loop's rate.
        static func run(_ bench: Bench, _ site: some LargeFileSite, share: Double? = nil) async throws {
            let size = bench.settings.count(1 << 30, quick: 1 << 24)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("film")
            try fill(file, size)
            let client = try await site.client()
            let rounds = bench.settings.count(3, quick: 1)

            let up = try await BenchComparison(rounds: rounds).run([
                .init("blocking libcurl") { try await site.plainUpload(file, size) },
                .init("switchyard") { _ = try await client.upload(.file(file), to: "film").result() },
            ])
            await report(bench, "up", up, size, share)

            let copy = folder.appendingPathComponent("copy")
            let down = try await BenchComparison(rounds: rounds).run([
                .init("blocking libcurl") {
                    let descriptor = open(copy.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                    defer { close(descriptor) }
                    try await BlockingCurl.download(site.address, headers: site.headers, to: descriptor)
                },
                .init("switchyard") { _ = try await client.download("film", to: copy).result() },
            ])
            await report(bench, "down", down, size, share)
            await client.shutDown()

            for task in ["up", "stream", "down"] {
                let growth = try await bench.inChild("\(task) \(site.place) \(size) \(file.path)")
                await bench.report("\(task), resident growth", growth / 1e6, "MB", .atMost(16))
            }
        }

        private static func report(
            _ bench: Bench, _ title: String, _ results: [BenchComparison.Result], _ size: Int, _ share: Double?
        ) async {
            for result in results {
                await bench.report("\(title), \(result.name)", Double(size) / result.seconds / 1e9, "GB/s")
            }
            await bench.report(
                "\(title), rate against blocking libcurl", results[0].seconds / results[1].seconds, "×",
                share.map { .atLeast($0) })
        }

        private static func fill(_ file: URL, _ size: Int) throws {
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            var generator = SystemRandomNumberGenerator()
            let block = Data((0..<(1 << 20) / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
            for _ in 0..<size / block.count { try handle.write(contentsOf: block) }
            try handle.close()
        }

        // MARK: Child processes

        /// The peak growth of resident memory for a large file, compared with a small one before.
        ///
        /// - Parameters:
        ///   - task: The task that `run` passed to the child process.
        ///   - site: Finds the site by its place.
        static func growth(_ task: String, at site: (String) -> (any LargeFileSite)?) async throws -> Double {
            let words = task.split(separator: " ").map(String.init)
            guard words.count == 4, let site = site(words[1]), let size = Int(words[2]) else {
                throw BenchFailure("no such task")
            }
            let file = URL(fileURLWithPath: words[3])
            let client = try await site.client()
            let block = Data(count: 256 << 10)
            func stream(_ size: Int) -> UploadSource {
                .stream(length: Int64(size)) {
                    AsyncThrowingStream<Data, any Error>(unfolding: countdown(size / block.count) { block })
                }
            }
            // After this, everything that grows once has grown.
            _ = try await client.upload(stream(48 << 20), to: "warm").result()
            for try await _ in client.bytes(of: "warm") {}
            let before = Usage.peakResidentBytes
            switch words[0] {
            case "up": _ = try await client.upload(.file(file), to: "film").result()
            case "stream": _ = try await client.upload(stream(size), to: "film").result()
            default:
                let copy = file.appendingPathExtension("copy")
                _ = try await client.download("film", to: copy).result()
                try FileManager.default.removeItem(at: copy)
            }
            let after = Usage.peakResidentBytes
            await client.shutDown()
            return Double(after - before)
        }

        private static func countdown(
            _ count: Int, _ make: @escaping @Sendable () -> Data
        ) -> @Sendable () async throws -> Data? {
            let left = Countdown(count)
            return { await left.next() ? make() : nil }
        }

        private actor Countdown {
            private var left: Int
            init(_ left: Int) { self.left = left }
            func next() -> Bool {
                left -= 1
                return left >= 0
            }
        }
    }
#endif

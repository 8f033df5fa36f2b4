#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardBytes
    import SwitchyardEmulator
    import SwitchyardFirebase
    import SwitchyardWire

    /// A large file to the local file storage and back, against a plain loop that makes the same requests.
    struct FirebaseFilesSection: BenchSection {
        let name = "files"
        private static let bucket = "bench"

        func run(_ bench: Bench) async throws {
            let server = try ChildServer(area: "firebase", section: name)
            defer { server.stop() }
            let size = bench.settings.count(1 << 30, quick: 1 << 24)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("film")
            try Self.fill(file, size)
            let client = try await Self.client(server.port)
            let rounds = bench.settings.count(3, quick: 1)

            let up = try await Contest(rounds: rounds).run([
                .init("blocking libcurl") { try await Self.plainUpload(file, size, server.port) },
                .init("switchyard") { _ = try await client.upload(.file(file), to: "film").result() },
            ])
            await report(bench, "up", up, size)

            let copy = folder.appendingPathComponent("copy")
            let address = "http://127.0.0.1:\(server.port)/v0/b/\(Self.bucket)/o/film?alt=media"
            let down = try await Contest(rounds: rounds).run([
                .init("blocking libcurl") {
                    let descriptor = open(copy.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                    defer { close(descriptor) }
                    try await BlockingCurl.download(address, to: descriptor)
                },
                .init("switchyard") { _ = try await client.download("film", to: copy).result() },
            ])
            await report(bench, "down", down, size)
            await client.shutDown()

            for task in ["up", "stream", "down"] {
                let growth = try await bench.inChild("\(task) \(server.port) \(size) \(file.path)")
                await bench.report("\(task), resident growth", growth / 1e6, "MB", .atMost(16))
            }
        }

        private func report(_ bench: Bench, _ title: String, _ results: [Contest.Result], _ size: Int) async {
            for result in results {
                await bench.report("\(title), \(result.name)", Double(size) / result.seconds / 1e9, "GB/s")
            }
            await bench.report(
                "\(title), rate against blocking libcurl", results[0].seconds / results[1].seconds, "×", .atLeast(0.8))
        }

        private static func fill(_ file: URL, _ size: Int) throws {
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            var generator = SystemRandomNumberGenerator()
            let block = Data((0..<(1 << 20) / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
            for _ in 0..<size / block.count { try handle.write(contentsOf: block) }
            try handle.close()
        }

        private static func client(_ port: Int) async throws -> any FileStorageClient {
            let configuration = FirebaseConfiguration(
                project: "bench", apiKey: "", bucket: bucket,
                emulators: FirebaseConfiguration.Emulators(storage: "127.0.0.1:\(port)"), usesEmulatorVariables: false)
            return try await FirebaseModule(configuration).makeFileStorageClient(ModuleContext())
        }

        /// The parts that the client makes, sent one after the other.
        private static func plainUpload(_ file: URL, _ size: Int, _ port: Int) async throws {
            let transport = CurlTransport()
            let start = HTTPRequest(
                .post, "http://127.0.0.1:\(port)/v0/b/\(bucket)/o?name=film",
                headers: [
                    "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start",
                    "X-Goog-Upload-Header-Content-Length": "\(size)", "Content-Type": "application/json",
                ], body: Array("{}".utf8))
            let session = try await transport.send(start).headers["X-Goog-Upload-URL"]
            await transport.shutDown()
            guard let session else { throw BenchFailure("no upload began") }
            var parts: [BlockingCurl.Part] = []
            var (offset, count) = (0, 256 << 10)
            while offset < size {
                let taken = min(count, size - offset)
                parts.append(
                    BlockingCurl.Part(
                        headers: [
                            "X-Goog-Upload-Command: " + (offset + taken == size ? "upload, finalize" : "upload"),
                            "X-Goog-Upload-Offset: \(offset)", "Content-Type: application/octet-stream",
                        ], count: Int64(taken)))
                offset += taken
                count = min(count * 2, 16 << 20)
            }
            let descriptor = open(file.path, O_RDONLY)
            defer { close(descriptor) }
            try await BlockingCurl.post(session, from: descriptor, parts: parts)
        }

        // MARK: Other processes

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            if task == "serve" {
                try await Self.serve()
                return 0
            }
            let words = task.split(separator: " ").map(String.init)
            guard words.count == 4, let port = Int(words[1]), let size = Int(words[2]) else {
                throw BenchFailure("no such task")
            }
            return try await Self.growth(words[0], try await Self.client(port), size, URL(fileURLWithPath: words[3]))
        }

        private static func serve() async throws {
            var options = LocalFirebaseOptions()
            options.allowsEverything = true
            let firebase = try LocalFirebase(options)
            print(firebase.port)
            fflush(nil)
            while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
            await firebase.stop()
        }

        /// How much more is resident at most while a large file moves than after a small one did.
        private static func growth(
            _ task: String, _ client: any FileStorageClient, _ size: Int, _ file: URL
        ) async throws -> Double {
            let block = Data(count: 256 << 10)
            func stream(_ size: Int) -> UploadSource {
                .stream(length: Int64(size)) {
                    AsyncThrowingStream<Data, any Error>(unfolding: countdown(size / block.count) { block })
                }
            }
            // Everything that grows once has grown after this.
            _ = try await client.upload(stream(48 << 20), to: "warm").result()
            for try await _ in client.bytes(of: "warm") {}
            let before = Usage.peakResidentBytes
            switch task {
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

import SwitchyardLocalFirebase

#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardLocalFirebase
    import SwitchyardFirebase
    import SwitchyardWire

    /// A large file to the local file storage and back, against a plain loop with the same requests.
    struct FirebaseFilesSection: BenchSection {
        let name = "files"

        func run(_ bench: Bench) async throws {
            let server = try ChildServer(area: "firebase", section: name)
            defer { server.stop() }
            try await LargeFileBench.run(bench, FirebaseFileSite(port: server.port), share: 0.8)
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else {
                return try await LargeFileBench.growth(task) { Int($0).map { FirebaseFileSite(port: $0) } }
            }
            var options = LocalFirebaseOptions()
            options.allowsEverything = true
            try await ChildServer.serve(try LocalFirebase(options))
            return 0
        }
    }

    private struct FirebaseFileSite: LargeFileSite {
        let port: Int
        private static let bucket = "bench"
        private var files: String { "http://127.0.0.1:\(port)/v0/b/\(Self.bucket)/o" }

        init(port: Int) { self.port = port }

        var place: String { "\(port)" }
        var address: String { files + "/film?alt=media" }
        var headers: [String] { [] }

        func client() async throws -> any FileStorageClient {
            let configuration = FirebaseConfiguration(
                project: "bench", apiKey: "", bucket: Self.bucket,
                emulators: FirebaseConfiguration.Emulators(storage: "127.0.0.1:\(port)"), usesEmulatorVariables: false)
            return try await FirebaseModule(configuration).makeFileStorageClient(ModuleContext())
        }

        func plainUpload(_ file: URL, _ size: Int) async throws {
            let transport = CurlTransport()
            let start = HTTPRequest(
                .post, files + "?name=film",
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
            try await BlockingCurl.send("POST", session, from: descriptor, parts: parts)
        }
    }
#endif

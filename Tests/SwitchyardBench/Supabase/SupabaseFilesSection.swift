#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardBytes
    import SwitchyardSupabase
    import SwitchyardWire

    /// A large file to the local file storage and back, against a plain loop with the same requests.
    struct SupabaseFilesSection: BenchSection {
        let name = "files"

        func run(_ bench: Bench) async throws {
            let site = try SupabaseBenchSite.start(name, bench.settings)
            defer { site.stop() }
            let files = SupabaseFileSite(url: site.url, key: site.key)
            try await files.makeBucket()
            try await LargeFileBench.run(bench, files, share: 0.8)
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            guard task == "serve" else { return try await LargeFileBench.growth(task) { SupabaseFileSite(place: $0) } }
            try await SupabaseBenchSite.serve(filling: "select 1")
            return 0
        }
    }

    private struct SupabaseFileSite: LargeFileSite {
        let url: String
        let key: String
        private static let bucket = "bench"

        init(url: String, key: String) {
            self.url = url
            self.key = key
        }

        init?(place: String) {
            let parts = place.split(separator: ",").map(String.init)
            guard parts.count == 2 else { return nil }
            self.init(url: parts[0], key: parts[1])
        }

        var place: String { "\(url),\(key)" }
        var address: String { "\(url)/storage/v1/object/authenticated/\(Self.bucket)/film" }
        var headers: [String] { ["apikey: \(key)", "Authorization: Bearer \(key)"] }

        func client() async throws -> any FileStorageClient {
            let configuration = SupabaseConfiguration(url: url, key: Secret(key), bucket: Self.bucket)
            return try await SupabaseModule(configuration).makeFileStorageClient(ModuleContext())
        }

        func makeBucket() async throws {
            let made = try await send(
                .post, "/storage/v1/bucket", ["Content-Type": "application/json"], #"{"name": "\#(Self.bucket)"}"#)
            guard made.isSuccess else { throw BenchFailure("the bucket was not made") }
        }

        /// The resumable protocol, with its required part size.
        func plainUpload(_ file: URL, _ size: Int) async throws {
            let metadata = [("bucketName", Self.bucket), ("objectName", "film")].map { name, value in
                "\(name) \(Base64.encode(Array(value.utf8)))"
            }
            let begun = try await send(
                .post, "/storage/v1/upload/resumable",
                [
                    "Tus-Resumable": "1.0.0", "Upload-Length": "\(size)", "x-upsert": "true",
                    "Upload-Metadata": metadata.joined(separator: ","),
                ])
            guard let session = begun.headers["Location"] else { throw BenchFailure("no upload began") }
            let part = 6 << 20
            let parts = stride(from: 0, to: size, by: part).map { offset in
                BlockingCurl.Part(
                    headers: headers + [
                        "Tus-Resumable: 1.0.0", "Upload-Offset: \(offset)", "x-upsert: true",
                        "Content-Type: application/offset+octet-stream",
                    ], count: Int64(min(part, size - offset)))
            }
            let descriptor = open(file.path, O_RDONLY)
            defer { close(descriptor) }
            try await BlockingCurl.send("PATCH", session, from: descriptor, parts: parts)
        }

        private func send(
            _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders, _ body: String = ""
        ) async throws -> HTTPResponse {
            let transport = CurlTransport()
            var request = HTTPRequest(method, url + path, headers: headers, body: Array(body.utf8))
            request.headers["apikey"] = key
            request.headers["Authorization"] = "Bearer \(key)"
            let response = try await transport.send(request)
            await transport.shutDown()
            return response
        }
    }
#endif

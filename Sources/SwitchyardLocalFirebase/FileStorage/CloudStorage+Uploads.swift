import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Uploads by servers: at once, with a description before the contents, or in parts.
extension CloudStorage {
    func upload(_ request: ServerRequest) async throws -> ServerResponse {
        switch request.query("uploadType") {
        case "media": return try await uploadAtOnce(request)
        case "multipart": return try await uploadDescribed(request)
        case "resumable": return try await begin(request)
        default: throw CloudStorageError(400, "invalid", "uploadType must be media, multipart or resumable.")
        }
    }

    private func uploadAtOnce(_ request: ServerRequest) async throws -> ServerResponse {
        let contents = try files.file()
        try await files.append(request.body, to: contents)
        var description: JSONObject = [:]
        description["contentType"] = request.headers["Content-Type"].map { .string($0) }
        return try store(request, contents, description)
    }

    private func uploadDescribed(_ request: ServerRequest) async throws -> ServerResponse {
        let parts = try await files.parts(of: request)
        guard var description = (try? JSON(parsing: parts.description))?.object else {
            throw CloudStorageError(400, "parseError", "The description of the object is not JSON.")
        }
        if description["contentType"] == nil { description["contentType"] = parts.type.map { .string($0) } }
        let contents = try files.file()
        try contents.append(Array(parts.content), by: contents.takeOver())
        return try store(request, contents, description)
    }

    /// Stores an object, unless it should be another or contain something else.
    private func store(
        _ request: ServerRequest, _ contents: ServerContents, _ description: JSONObject, name: String? = nil
    ) throws -> ServerResponse {
        do {
            let bucket = request.parameters["bucket"] ?? ""
            guard let name = name ?? request.query("name") ?? description["name"]?.string, !name.isEmpty,
                name.utf8.count <= 1024
            else { throw CloudStorageError(400, "required", "Required: the object's name, of 1 to 1024 bytes.") }
            try Self.check(request, buckets.object(bucket, name))
            try Self.check(contents.sums, description)
            return .json(
                resource(
                    buckets.store(bucket, name, contents, description, isByServer: true, now: files.now()), request
                ).bytes())
        } catch {
            contents.discard()
            throw error
        }
    }

    private static func check(_ sums: ServerContents.Sums, _ description: JSONObject) throws(CloudStorageError) {
        let crc = withUnsafeBytes(of: sums.crc32c.bigEndian) { Base64.encode(Array($0)) }
        for (name, what, real) in [("md5Hash", "MD5 hash", Base64.encode(sums.md5)), ("crc32c", "CRC32C", crc)] {
            guard let given = description[name]?.string, given != real else { continue }
            throw CloudStorageError(
                400, "invalid", "Provided \(what) \"\(given)\" doesn't match calculated \(what) \"\(real)\".")
        }
    }

    // MARK: In parts

    private static let granularity: Int64 = 256 << 10

    private func begin(_ request: ServerRequest) async throws -> ServerResponse {
        let bytes = try await LocalFirebaseFileStorage.body(of: request, upTo: 1 << 20)
        var description = (try? JSON(parsing: bytes))?.object ?? [:]
        if description["contentType"] == nil {
            description["contentType"] = request.headers["X-Upload-Content-Type"].map { .string($0) }
        }
        let bucket = request.parameters["bucket"] ?? ""
        guard let name = request.query("name") ?? description["name"]?.string, !name.isEmpty else {
            throw CloudStorageError(400, "required", "Required: the object's name, of 1 to 1024 bytes.")
        }
        try Self.check(request, buckets.object(bucket, name))
        let session = LocalFirebaseFileStorage.Uploads.Session(
            id: RandomID.make(length: 40),
            object: .init(bucket: bucket, name: name, description: description),
            length: request.headers["X-Upload-Content-Length"].flatMap { Int64($0) }, contents: try files.file())
        files.uploads.add(session)
        let conditions = request.queryItems.filter { $0.name.hasPrefix("if") }.map {
            "&\($0.name)=\(PercentCoding.encode($0.value))"
        }.joined()
        var response = ServerResponse(status: 200)
        response.headers["Location"] =
            "http://\(request.headers["Host"] ?? "127.0.0.1")/upload/storage/v1/b/\(PercentCoding.encode(bucket))/o"
            + "?uploadType=resumable&name=\(PercentCoding.encode(name))&upload_id=\(session.id)\(conditions)"
        response.headers["X-GUploader-UploadID"] = session.id
        return response
    }

    private func session(
        _ request: ServerRequest
    ) throws(CloudStorageError) -> LocalFirebaseFileStorage.Uploads.Session {
        guard let id = request.query("upload_id"), let session = files.uploads.session(id) else {
            throw CloudStorageError(404, "notFound", "No such upload: it has ended, or never began.")
        }
        return session
    }

    /// `PUT`: a part, the last part, or the question how much has arrived.
    func resume(_ request: ServerRequest) async throws -> ServerResponse {
        let session = try session(request)
        let (bucket, name) = (session.object.bucket, session.object.name)
        if session.status == .final, let object = buckets.object(bucket, name) {
            return .json(resource(object, request).bytes())
        }
        guard session.status == .active else { throw CloudStorageError(410, "gone", "The upload was cancelled.") }
        let part = try UploadPart(request.headers["Content-Range"], known: session.length)
        if let bytes = part.bytes {
            guard bytes.lowerBound == session.contents.size else {
                throw CloudStorageError(
                    400, "invalid",
                    "The part begins at \(bytes.lowerBound), and \(session.contents.size) bytes have arrived; ask for them with an "
                        + "empty PUT.")
            }
            let isLast = part.total.map { bytes.upperBound >= $0 } ?? false
            guard isLast || Int64(bytes.count) % Self.granularity == 0 else {
                throw CloudStorageError(400, "invalid", "All parts but the last have a multiple of 256 KiB.")
            }
        }
        if part.hasContents { try await files.append(request.body, to: session.contents) }
        let total = part.total ?? (part.isWhole ? session.contents.size : nil)
        guard total == session.contents.size else { return Self.progress(session) }
        guard session.end(.final) else { throw CloudStorageError(410, "gone", "The upload has ended.") }
        return try store(request, session.contents, session.object.description, name: name)
    }

    private static func progress(_ session: LocalFirebaseFileStorage.Uploads.Session) -> ServerResponse {
        var response = ServerResponse(status: 308)
        if session.contents.size > 0 { response.headers["Range"] = "bytes=0-\(session.contents.size - 1)" }
        response.headers["X-GUploader-UploadID"] = session.id
        return response
    }

    func cancel(_ request: ServerRequest) throws -> ServerResponse {
        let session = try session(request)
        if session.end(.cancelled) { session.contents.discard() }
        return ServerResponse(status: 499)
    }

    /// What a `Content-Range` of an upload says: `bytes 0-9/10`, `bytes 0-9/*` or `bytes */10`.
    private struct UploadPart {
        var bytes: Range<Int64>?
        var total: Int64?
        /// Without the header, the body is everything.
        var isWhole = false
        var hasContents: Bool { isWhole || bytes != nil }

        init(_ header: String?, known: Int64?) throws(CloudStorageError) {
            total = known
            guard let header else {
                isWhole = true
                return
            }
            let parts = header.hasPrefix("bytes ") ? header.dropFirst(6).split(separator: "/") : []
            guard parts.count == 2 else { throw Self.unreadable }
            if parts[1] != "*" {
                guard let all = Int64(parts[1]), all >= 0 else { throw Self.unreadable }
                total = all
            }
            guard parts[0] != "*" else { return }
            let ends = parts[0].split(separator: "-").compactMap { Int64($0) }
            guard ends.count == 2, ends[0] >= 0, ends[0] <= ends[1], ends[1] < .max else { throw Self.unreadable }
            bytes = ends[0]..<ends[1] + 1
        }

        private static let unreadable = CloudStorageError(400, "invalid", "Failed to parse Content-Range header.")
    }
}

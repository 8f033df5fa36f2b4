import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Uploads of objects: as a plain body, as two parts, or part by part.
extension LocalFirebaseFileStorage {
    typealias Uploads = ServerUploads<UploadedObject>

    struct UploadedObject: Sendable {
        let bucket: String
        let name: String
        let description: JSONObject
    }

    /// The vendor's required part size, except for the last part.
    private static let granularity = 256 << 10
    /// Two-part bodies are parsed in memory; larger uploads are sent part by part.
    private static let multipartLimit = 64 << 20

    func receive(
        _ request: ServerRequest, _ caller: LocalCaller
    ) async throws(LocalFirebaseFileError) -> ServerResponse {
        if let id = request.query("upload_id") { return try await command(request, id) }
        guard let name = request.query("name") ?? request.parameters["object"], !name.isEmpty,
            name.utf8.count <= 1024
        else { throw .badRequest }
        let bucket = request.parameters["bucket"] ?? ""
        try check(.write, of: caller, name)
        switch request.headers["X-Goog-Upload-Protocol"] {
        case "resumable": return try await begin(request, bucket, name)
        case "multipart": return try await multipart(request, bucket, name)
        case nil:
            let type = request.headers["Content-Type"] ?? "application/octet-stream"
            let contents = try file()
            try await append(request.body, to: contents)
            return store(bucket, name, contents, ["contentType": .string(type)])
        default: throw .badRequest
        }
    }

    private func store(
        _ bucket: String, _ name: String, _ contents: ServerContents, _ description: JSONObject
    ) -> ServerResponse {
        .json(buckets.store(bucket, name, contents, description, now: now()).resource.bytes())
    }

    func file() throws(LocalFirebaseFileError) -> ServerContents {
        do throws(ServerContents.Failure) { return try buckets.receive() } catch { throw .internalError }
    }

    /// Writes the body as it arrives. What arrived before a broken connection is stored.
    func append(_ body: ServerRequestBody, to contents: ServerContents) async throws(LocalFirebaseFileError) {
        let writer = contents.takeOver()
        do {
            for try await bytes in body { try contents.append(bytes, by: writer) }
        } catch ServerContents.Failure.cannotBeWritten {
            throw .internalError
        } catch {
            throw .badRequest
        }
    }

    // MARK: Two parts

    private func multipart(
        _ request: ServerRequest, _ bucket: String, _ name: String
    ) async throws(LocalFirebaseFileError) -> ServerResponse {
        let parts = try await parts(of: request)
        guard let description = (try? JSON(parsing: parts.description))?.object else { throw .badRequest }
        let contents = try file()
        do throws(ServerContents.Failure) {
            try contents.append(Array(parts.content), by: contents.takeOver())
        } catch {
            throw .internalError
        }
        return store(bucket, name, contents, description)
    }

    /// The description and the contents in one body.
    func parts(of request: ServerRequest) async throws(LocalFirebaseFileError) -> LocalMultipart {
        let type = request.headers["Content-Type"] ?? ""
        let mark = "boundary="
        guard type.hasPrefix("multipart/related"), let start = type.firstRange(of: mark)?.upperBound else {
            throw .badType(type)
        }
        let boundary = type[start...].filter { $0 != "\"" && $0 != "'" }
        let body = try await Self.body(of: request, upTo: Self.multipartLimit)
        guard let parts = LocalMultipart(body, boundary: boundary) else { throw .badParts }
        return parts
    }

    // MARK: Part by part

    private func begin(
        _ request: ServerRequest, _ bucket: String, _ name: String
    ) async throws(LocalFirebaseFileError) -> ServerResponse {
        guard request.headers["X-Goog-Upload-Command"] == "start" else { throw .badRequest }
        let bytes = try await Self.body(of: request, upTo: 1 << 20)
        var description = (try? JSON(parsing: bytes))?.object ?? JSONObject()
        if description["contentType"] == nil {
            let type =
                request.headers["X-Goog-Upload-Header-Content-Type"] ?? request.headers["X-Goog-Upload-Content-Type"]
            description["contentType"] = type.map { .string($0) }
        }
        let length =
            request.headers["X-Goog-Upload-Header-Content-Length"] ?? request.headers["X-Goog-Upload-Content-Length"]
        let session = Uploads.Session(
            id: RandomID.make(length: 40),
            object: UploadedObject(bucket: bucket, name: name, description: description),
            length: length.flatMap { Int64($0) }, contents: try file())
        uploads.add(session)
        let host = request.headers["Host"] ?? "127.0.0.1"
        let address =
            "http://\(host)/v0/b/\(PercentCoding.encode(bucket))/o?name=\(PercentCoding.encode(name))"
            + "&upload_id=\(session.id)&upload_protocol=resumable"
        var response = ServerResponse.text("OK")
        for (name, value) in [
            ("X-Goog-Upload-Status", "active"), ("X-Goog-Upload-URL", address), ("X-GUploader-UploadID", session.id),
            ("X-Goog-Upload-Chunk-Granularity", String(Self.granularity)), ("X-Goog-Upload-Control-URL", ""),
        ] { response.headers.add(name, value) }
        return response
    }

    private func command(_ request: ServerRequest, _ id: String) async throws(LocalFirebaseFileError) -> ServerResponse
    {
        guard let session = uploads.session(id) else { throw .notFound }
        let commands = (request.headers["X-Goog-Upload-Command"] ?? "").split(separator: ",").map {
            $0.filter { $0 != " " }
        }
        switch commands {
        case ["query"]:
            // The client wants to continue, so bytes from an older connection are no longer accepted.
            _ = session.contents.takeOver()
            return answer(session, ["X-Goog-Upload-Size-Received": String(session.contents.size)])
        case ["cancel"]:
            guard session.end(.cancelled) else { throw .badRequest }
            session.contents.discard()
            return answer(session)
        case ["upload"], ["upload", "finalize"]:
            try await take(request, session, isLast: commands.count == 2)
            return commands.count == 2 ? try finish(session) : answer(session)
        case ["finalize"] where session.status == .final: return answer(session)
        case ["finalize"]:
            try checkOffset(request, session)
            return try finish(session)
        default: throw .badRequest
        }
    }

    private func checkOffset(
        _ request: ServerRequest, _ session: Uploads.Session
    ) throws(LocalFirebaseFileError) {
        guard session.status == .active,
            request.headers["X-Goog-Upload-Offset"].flatMap({ Int64($0) }) == session.contents.size
        else { throw .badRequest }
    }

    private func take(
        _ request: ServerRequest, _ session: Uploads.Session, isLast: Bool
    ) async throws(LocalFirebaseFileError) {
        try checkOffset(request, session)
        let length = request.headers["Content-Length"].flatMap { Int64($0) }
        if !isLast, let length, length % Int64(Self.granularity) != 0 { throw .badRequest }
        try await append(request.body, to: session.contents)
    }

    private func finish(_ session: Uploads.Session) throws(LocalFirebaseFileError) -> ServerResponse {
        if let length = session.length, length != session.contents.size { throw .badRequest }
        guard session.end(.final) else { throw .badRequest }
        var response = store(session.object.bucket, session.object.name, session.contents, session.object.description)
        response.headers.add("X-Goog-Upload-Status", "final")
        return response
    }

    private func answer(_ session: Uploads.Session, _ headers: [String: String] = [:]) -> ServerResponse {
        var response = ServerResponse.text("OK")
        response.headers.add("X-Goog-Upload-Status", session.status.rawValue)
        for (name, value) in headers { response.headers.add(name, value) }
        return response
    }
}

/// A body of two parts, parsed as strictly as by the vendor: JSON first, each part with its type as the only header.
struct LocalMultipart {
    let description: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>
    /// The type of the contents.
    let type: String?

    init?(_ whole: [UInt8], boundary: some StringProtocol) {
        guard !boundary.isEmpty else { return nil }
        let body = whole.suffix(2).elementsEqual([13, 10]) ? whole.dropLast(2) : whole[...]
        let mark = Array("--\(boundary)".utf8)
        let separator = Array("\r\n".utf8) + mark
        guard body.starts(with: mark + [13, 10]), body.count > mark.count + separator.count + 2 else { return nil }
        let first = body[(mark.count + 2)...]
        guard let middle = Self.find(separator, in: first) else { return nil }
        let rest = body[(middle + separator.count)...]
        // The last separator is the end, since contents may include anything.
        let tail = separator + [45, 45]
        guard rest.starts(with: [13, 10]), rest.count >= tail.count + 2,
            rest.suffix(tail.count).elementsEqual(tail)
        else { return nil }
        let second = rest.dropFirst(2).dropLast(tail.count)
        guard let description = Self.body(first[..<middle], type: "application/json"),
            let content = Self.body(second, type: "")
        else { return nil }
        self.description = description
        self.content = content
        let line = second.prefix { $0 != 13 }.dropFirst("content-type: ".utf8.count)
        type = line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The part after the single header line and the empty one.
    private static func body(_ part: ArraySlice<UInt8>, type: String) -> ArraySlice<UInt8>? {
        let head = "content-type: \(type)"
        guard String(decoding: part.prefix(head.utf8.count), as: UTF8.self).lowercased() == head,
            let end = find([13, 10, 13, 10], in: part),
            find([13, 10], in: part[..<end]) == nil
        else { return nil }
        return part[(end + 4)...]
    }

    private static func find(_ pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - pattern.count)).first { start in
            bytes[start] == pattern[0] && bytes[start..<start + pattern.count].elementsEqual(pattern)
        }
    }
}

import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Objects made of others.
extension CloudStorage {
    /// `rewriteTo` and `copyTo`. Every rewrite is done at once.
    func copy(_ request: ServerRequest, isRewrite: Bool) async throws -> ServerResponse {
        let (bucket, name) = place(request)
        let source = try object(request, bucket, name, prefix: "ifSource")
        let target = (request.parameters["destination"] ?? "", request.parameters["name"] ?? "")
        try Self.check(request, buckets.object(target.0, target.1))
        let given = try await description(of: request)
        let copied = buckets.store(
            target.0, target.1, try buckets.copy([source]), given ?? source.description, isByServer: true,
            now: files.now())
        let resource = resource(copied, request)
        guard isRewrite else { return .json(resource.bytes()) }
        let size = JSON.string(String(copied.size))
        return .json(
            JSON.object([
                "kind": "storage#rewriteResponse", "totalBytesRewritten": size, "objectSize": size, "done": true,
                "resource": resource,
            ]).bytes())
    }

    /// The new object's description; `nil` if it takes over that of its source.
    private func description(of request: ServerRequest) async throws -> JSONObject? {
        let bytes = try await LocalFirebaseFileStorage.body(of: request, upTo: 1 << 20)
        guard let given = (try? JSON(parsing: bytes))?.object, !given.isEmpty else { return nil }
        return given
    }

    private static let largestComposition = 32

    func compose(_ request: ServerRequest) async throws -> ServerResponse {
        let (bucket, name) = place(request)
        let body = try await LocalFirebaseFileStorage.object(in: request)
        let sources = body["sourceObjects"]?.array ?? []
        guard (1...Self.largestComposition).contains(sources.count) else {
            throw CloudStorageError(
                400, "invalid", "The number of source components provided (\(sources.count)) must be 1 to 32.")
        }
        try Self.check(request, buckets.object(bucket, name))
        var parts: [LocalFile] = []
        for source in sources {
            let part = source["name"]?.string ?? ""
            guard let object = buckets.object(bucket, part) else { throw CloudStorageError.noSuchObject(bucket, part) }
            let wanted = source["generation"] ?? source["objectPreconditions"]?["ifGenerationMatch"]
            if let wanted = wanted?.string ?? wanted?.int64.map({ String($0) }), wanted != String(object.generation) {
                throw CloudStorageError.conditionNotMet
            }
            parts.append(object)
        }
        let composed = buckets.store(
            bucket, name, try buckets.copy(parts), body["destination"]?.object ?? [:], isByServer: true,
            now: files.now())
        var resource = resource(composed, request).object ?? [:]
        resource["componentCount"] = .integer(Int64(parts.count))
        // Compositions have no such sum.
        resource["md5Hash"] = nil
        return .json(JSON.object(resource).bytes())
    }
}

/// Addresses with a signature, and the downloads of clients that use the older interface: `/BUCKET/OBJECT`.
extension CloudStorage {
    /// Its paths are as general as can be: add them after everything else.
    func addAddresses(to router: inout Router) {
        for method in [HTTPMethod.get, .head] {
            on(&router, method, "/{bucket}/{object...}") { cloud, request in
                if let expired = cloud.expiry(of: request) { return expired }
                let (bucket, name) = cloud.place(request)
                guard let object = cloud.buckets.object(bucket, name) else {
                    return Self.failure(404, "NoSuchKey", "The specified key does not exist.")
                }
                return try cloud.files.media(object, request)
            }
        }
        on(&router, .put, "/{bucket}/{object...}") { cloud, request in
            try await cloud.signed(request) { bucket, name in
                let contents = try cloud.files.file()
                try await cloud.files.append(request.body, to: contents)
                var description: JSONObject = [:]
                description["contentType"] = request.headers["Content-Type"].map { .string($0) }
                let object = cloud.buckets.store(
                    bucket, name, contents, description, isByServer: true, now: cloud.files.now())
                return ServerResponse(headers: ["ETag": "\"\(object.etag)\"", "x-goog-hash": object.hash])
            }
        }
        on(&router, .delete, "/{bucket}/{object...}") { cloud, request in
            try await cloud.signed(request) { bucket, name in
                cloud.buckets.remove(bucket, name)
                    ? ServerResponse(status: 204)
                    : Self.failure(404, "NoSuchKey", "The specified key does not exist.")
            }
        }
    }

    /// Whether the address is signed. Whose key it was cannot be checked: no service account is known here.
    private func isSigned(_ request: ServerRequest) -> Bool {
        request.query("X-Goog-Signature") != nil || request.query("Signature") != nil
    }

    private func signed(
        _ request: ServerRequest, _ body: (_ bucket: String, _ name: String) async throws -> ServerResponse
    ) async throws -> ServerResponse {
        guard isSigned(request) else { return .text("Not Found\n", status: 404) }
        if let expired = expiry(of: request) { return expired }
        let (bucket, name) = place(request)
        return try await body(bucket, name)
    }

    /// The answer to an address whose time is over.
    private func expiry(of request: ServerRequest) -> ServerResponse? {
        guard isSigned(request) else { return nil }
        let now = files.now().seconds
        if let end = request.query("Expires").flatMap({ Int64($0) }) {
            return end < now ? Self.failure(400, "ExpiredToken", "The provided token has expired.") : nil
        }
        guard let date = request.query("X-Goog-Date"), let lifetime = request.query("X-Goog-Expires"),
            let seconds = Int64(lifetime), seconds >= 0, seconds <= 604_800, let start = Self.seconds(date)
        else {
            return Self.failure(400, "AuthenticationRequired", "The signed address lacks its date or its lifetime.")
        }
        return start + seconds < now ? Self.failure(400, "ExpiredToken", "The provided token has expired.") : nil
    }

    /// Such as `20260102T030405Z`.
    private static func seconds(_ text: String) -> Int64? {
        let letters = Array(text)
        guard letters.count == 16 else { return nil }
        func part(_ range: Range<Int>) -> String { String(letters[range]) }
        let moment =
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
        return RFC3339.parse(moment)?.seconds
    }

    private static func failure(_ status: Int, _ code: String, _ message: String) -> ServerResponse {
        .text(
            "<?xml version='1.0' encoding='UTF-8'?><Error><Code>\(code)</Code><Message>\(message)</Message></Error>",
            status: status, type: "application/xml; charset=UTF-8")
    }
}

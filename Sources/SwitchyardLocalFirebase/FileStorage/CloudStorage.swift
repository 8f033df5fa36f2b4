import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Cloud Storage's JSON interface, as far as the vendor's server programs use it, on the same objects as the interface of apps.
///
/// As with the vendor's emulator, everyone who calls it counts as one of the project's own servers: no access rules apply.
struct CloudStorage: LocalFirebaseService {
    let files: LocalFirebaseFileStorage

    var buckets: LocalBuckets { files.buckets }

    func addRoutes(to router: inout Router) {
        // Some clients leave out the version when they are told to use an emulator.
        for root in ["/storage/v1", ""] {
            on(&router, .get, root + "/b") { cloud, _ in cloud.listBuckets() }
            on(&router, .post, root + "/b") { try await $0.createBucket($1) }
            on(&router, .get, root + "/b/{bucket}") { cloud, request in .json(cloud.bucket(request).bytes()) }
            on(&router, .patch, root + "/b/{bucket}") { cloud, request in .json(cloud.bucket(request).bytes()) }
            on(&router, .delete, root + "/b/{bucket}") { try $0.deleteBucket($1) }
            on(&router, .get, root + "/b/{bucket}/o") { $0.list($1) }
            on(&router, .get, root + "/b/{bucket}/o/{object}") { try $0.get($1) }
            on(&router, .patch, root + "/b/{bucket}/o/{object}") { try await $0.patch($1) }
            on(&router, .put, root + "/b/{bucket}/o/{object}") { try await $0.patch($1, replaces: true) }
            on(&router, .delete, root + "/b/{bucket}/o/{object}") { try $0.delete($1) }
            on(&router, .post, root + "/b/{bucket}/o/{object}/compose") { try await $0.compose($1) }
            for call in ["rewriteTo", "copyTo"] {
                on(&router, .post, root + "/b/{bucket}/o/{object}/\(call)/b/{destination}/o/{name}") {
                    try await $0.copy($1, isRewrite: call == "rewriteTo")
                }
            }
            on(&router, nil, root + "/b/{rest...}") { _, request in throw CloudStorageError.unsupported(request) }
        }
        for root in ["/upload/storage/v1", "/resumable/upload/storage/v1"] {
            on(&router, .post, root + "/b/{bucket}/o") { try await $0.upload($1) }
            on(&router, .put, root + "/b/{bucket}/o") { try await $0.resume($1) }
            on(&router, .delete, root + "/b/{bucket}/o") { try $0.cancel($1) }
        }
        on(&router, .get, "/download/storage/v1/b/{bucket}/o/{object}") { try $0.media($1) }
        on(&router, nil, "/batch/{rest...}") { _, request in throw CloudStorageError.unsupported(request) }
    }

    func on(
        _ router: inout Router, _ method: HTTPMethod?, _ pattern: String,
        _ handler: @escaping @Sendable (CloudStorage, ServerRequest) async throws -> ServerResponse
    ) {
        router.on(method, pattern) { request in
            do {
                return try await handler(self, request)
            } catch let error as CloudStorageError {
                return error.response
            } catch let error as LocalFirebaseFileError {
                return CloudStorageError(error).response
            } catch {
                return CloudStorageError(500, "backendError", "\(error)").response
            }
        }
    }

    func place(_ request: ServerRequest) -> (bucket: String, name: String) {
        (request.parameters["bucket"] ?? "", request.parameters["object"] ?? "")
    }

    /// The object that a request names, if it meets the request's conditions.
    func object(
        _ request: ServerRequest, _ bucket: String, _ name: String, prefix: String = "if"
    ) throws(CloudStorageError) -> LocalFile {
        guard let object = buckets.object(bucket, name) else {
            if prefix == "if", let wanted = request.query("ifGenerationMatch"), wanted != "0" {
                throw .conditionNotMet
            }
            throw .noSuchObject(bucket, name)
        }
        if let generation = request.query(prefix == "if" ? "generation" : "sourceGeneration"),
            generation != String(object.generation)
        {
            throw .noSuchObject(bucket, name)
        }
        try Self.check(request, object, prefix: prefix)
        return object
    }

    /// - Parameter object: What is there now; `nil` for nothing.
    static func check(
        _ request: ServerRequest, _ object: LocalFile?, prefix: String = "if"
    ) throws(CloudStorageError) {
        let generation = String(object?.generation ?? 0)
        let metageneration = String(object?.metageneration ?? 0)
        for (name, value) in [("Generation", generation), ("Metageneration", metageneration)] {
            if let wanted = request.query("\(prefix)\(name)Match"), wanted != value { throw .conditionNotMet }
            if let unwanted = request.query("\(prefix)\(name)NotMatch"), unwanted == value {
                throw request.method == .get ? .notModified : .conditionNotMet
            }
        }
    }

    // MARK: Objects

    private func get(_ request: ServerRequest) throws -> ServerResponse {
        if request.query("alt") == "media" { return try media(request) }
        let (bucket, name) = place(request)
        return .json(resource(try object(request, bucket, name), request).bytes())
    }

    func media(_ request: ServerRequest) throws -> ServerResponse {
        let (bucket, name) = place(request)
        return try files.media(try object(request, bucket, name), request)
    }

    private func patch(_ request: ServerRequest, replaces: Bool = false) async throws -> ServerResponse {
        let (bucket, name) = place(request)
        _ = try object(request, bucket, name)
        let changes = try await LocalFirebaseFileStorage.object(in: request)
        let now = files.now()
        guard
            let changed = buckets.change(
                bucket, name,
                { object in
                    if replaces { object.clear() }
                    object.patchByServer(changes, now: now)
                })
        else { throw CloudStorageError.noSuchObject(bucket, name) }
        return .json(resource(changed, request).bytes())
    }

    private func delete(_ request: ServerRequest) throws -> ServerResponse {
        let (bucket, name) = place(request)
        _ = try object(request, bucket, name)
        guard buckets.remove(bucket, name) else { throw CloudStorageError.noSuchObject(bucket, name) }
        return ServerResponse(status: 204)
    }

    /// An object as servers see it.
    func resource(_ object: LocalFile, _ request: ServerRequest) -> JSON {
        var resource = object.resource.object ?? [:]
        let address = "http://\(request.headers["Host"] ?? "127.0.0.1")"
        let path = "b/\(PercentCoding.encode(object.bucket))/o/\(PercentCoding.encode(object.name))"
        resource["downloadTokens"] = nil
        resource["contentEncoding"] = object.fields["contentEncoding"]
        var custom = object.custom ?? [:]
        if !object.downloadTokens.isEmpty {
            custom[LocalFile.tokensName] = .string(object.downloadTokens.joined(separator: ","))
        }
        resource["metadata"] = custom.isEmpty ? nil : .object(custom)
        resource["kind"] = "storage#object"
        resource["id"] = .string("\(object.bucket)/\(object.name)/\(object.generation)")
        resource["selfLink"] = .string("\(address)/storage/v1/\(path)")
        resource["mediaLink"] = .string(
            "\(address)/download/storage/v1/\(path)?generation=\(object.generation)&alt=media")
        resource["timeStorageClassUpdated"] = resource["timeCreated"]
        return .object(resource)
    }

    // MARK: Lists

    private func list(_ request: ServerRequest) -> ServerResponse {
        let bucket = request.parameters["bucket"] ?? ""
        let prefix = request.query("prefix") ?? ""
        let delimiter = request.query("delimiter") ?? ""
        let start = Array((request.query("startOffset") ?? "").utf8)
        let end = Array((request.query("endOffset") ?? "").utf8)
        let most = min(max(request.query("maxResults").flatMap { Int($0) } ?? 1000, 1), 1000)
        var objects: [[UInt8]: String] = [:]
        var folders: Set<[UInt8]> = []
        for name in buckets.names(in: bucket) where name.utf8.starts(with: prefix.utf8) {
            let bytes = Array(name.utf8)
            guard start.isEmpty || !bytes.lexicographicallyPrecedes(start),
                end.isEmpty || bytes.lexicographicallyPrecedes(end)
            else { continue }
            let rest = String(decoding: bytes.dropFirst(prefix.utf8.count), as: UTF8.self)
            guard !delimiter.isEmpty, let found = rest.firstRange(of: delimiter) else {
                objects[bytes] = name
                continue
            }
            folders.insert(Array((prefix + rest[..<found.upperBound]).utf8))
            if request.query("includeTrailingDelimiter") == "true", found.upperBound == rest.endIndex {
                objects[bytes] = name
            }
        }
        let after = request.query("pageToken").flatMap { Base64.decode($0, alphabet: .url) }
        let rest = folders.union(objects.keys).sorted { $0.lexicographicallyPrecedes($1) }
            .drop { entry in after.map { !$0.lexicographicallyPrecedes(entry) } ?? false }
        let shown = rest.prefix(most)
        var page: JSONObject = ["kind": "storage#objects"]
        let items = shown.compactMap { objects[$0] }.compactMap { buckets.object(bucket, $0) }
        if !items.isEmpty { page["items"] = .array(items.map { resource($0, request) }) }
        let prefixes = shown.filter(folders.contains).map { JSON.string(String(decoding: $0, as: UTF8.self)) }
        if !prefixes.isEmpty { page["prefixes"] = .array(prefixes) }
        if rest.count > most, let last = shown.last {
            page["nextPageToken"] = .string(Base64.encode(last, alphabet: .url))
        }
        return .json(JSON.object(page).bytes())
    }

    // MARK: Buckets

    /// Every bucket that is asked for exists.
    private func bucket(_ request: ServerRequest) -> JSON { Self.bucket(request.parameters["bucket"] ?? "") }

    private static func bucket(_ name: String) -> JSON {
        let start: JSON = "2020-01-01T00:00:00.000Z"
        return [
            "kind": "storage#bucket", "id": .string(name), "name": .string(name), "projectNumber": "0",
            "location": "US", "locationType": "multi-region", "storageClass": "STANDARD", "metageneration": "1",
            "timeCreated": start, "updated": start, "etag": "CAE=",
        ]
    }

    private func listBuckets() -> ServerResponse {
        let names = buckets.bucketNames.sorted()
        return .json(
            JSON.object(["kind": "storage#buckets", "items": .array(names.map { Self.bucket($0) })]).bytes())
    }

    private func createBucket(_ request: ServerRequest) async throws -> ServerResponse {
        guard let name = try await LocalFirebaseFileStorage.object(in: request)["name"]?.string, !name.isEmpty else {
            throw CloudStorageError(400, "required", "Required")
        }
        buckets.add(bucket: name)
        return .json(Self.bucket(name).bytes())
    }

    private func deleteBucket(_ request: ServerRequest) throws -> ServerResponse {
        let name = request.parameters["bucket"] ?? ""
        guard buckets.names(in: name).isEmpty else {
            throw CloudStorageError(409, "conflict", "The bucket you tried to delete is not empty.")
        }
        buckets.remove(bucket: name)
        return ServerResponse(status: 204)
    }
}

/// The refusals of Cloud Storage.
struct CloudStorageError: Error {
    let status: Int
    let reason: String
    let message: String

    init(_ status: Int, _ reason: String, _ message: String) {
        (self.status, self.reason, self.message) = (status, reason, message)
    }

    /// What the two interfaces refuse alike.
    init(_ error: LocalFirebaseFileError) {
        switch error {
        case .rangeNotSatisfiable:
            self.init(416, "requestedRangeNotSatisfiable", "The requested range cannot be satisfied.")
        case .notFound: self.init(404, "notFound", "Not Found")
        case .tooLarge: self.init(413, "uploadTooLarge", "The body is too large; use a resumable upload.")
        case .internalError: self.init(500, "backendError", "The file cannot be written.")
        default: self.init(400, "badRequest", "The request cannot be read.")
        }
    }

    static let conditionNotMet = CloudStorageError(
        412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
    static let notModified = CloudStorageError(304, "notModified", "Not Modified")

    static func noSuchObject(_ bucket: String, _ name: String) -> CloudStorageError {
        CloudStorageError(404, "notFound", "No such object: \(bucket)/\(name)")
    }

    static func unsupported(_ request: ServerRequest) -> CloudStorageError {
        CloudStorageError(
            501, "notImplemented",
            "The local Firebase has no “\(request.method.rawValue) \(request.path)”: of Cloud Storage it serves objects (uploads, "
                + "downloads, lists, metadata, copies, compositions, deletions) and buckets, without access lists and batches."
        )
    }

    var response: ServerResponse {
        guard status != 304 else { return ServerResponse(status: 304) }
        return .json(
            JSON.object([
                "error": [
                    "code": .integer(Int64(status)), "message": .string(message),
                    "errors": [["message": .string(message), "domain": "global", "reason": .string(reason)]],
                ]
            ]).bytes(), status: status)
    }
}

import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Reading and changing stored objects.
extension LocalFirebaseFileStorage {
    private typealias Failure = LocalFirebaseFileError

    func place(_ request: ServerRequest) -> (bucket: String, name: String) {
        (request.parameters["bucket"] ?? "", request.parameters["object"] ?? "")
    }

    func get(_ request: ServerRequest, _ caller: LocalCaller) throws(LocalFirebaseFileError) -> ServerResponse {
        let (bucket, name) = place(request)
        let object = buckets.object(bucket, name)
        let isMedia = request.query("alt") == "media"
        let key = request.query("token")
        // A caller with one of the object's own keys needs no permission.
        if key == nil || object?.downloadTokens.contains(key ?? "") != true {
            try check(.read, of: caller, name)
        }
        guard var object else { throw .notFound }
        if isMedia { return try media(object, request) }
        // An object that a server stored has no token until an app asks.
        if object.downloadTokens.isEmpty {
            object = buckets.change(bucket, name) { $0.downloadTokens = [RandomID.uuid()] } ?? object
        }
        return .json(object.resource.bytes())
    }

    func media(
        _ object: LocalFile, _ request: ServerRequest
    ) throws(LocalFirebaseFileError) -> ServerResponse {
        guard let range = ContentRange(of: request, size: object.size, etag: object.etag) else {
            throw .rangeNotSatisfiable(size: object.size)
        }
        guard var response = ServerContents.answer(buckets.path(of: object), range.bytes, status: range.status) else {
            throw .notFound
        }
        response.headers = [
            "Content-Type": object.contentType, "ETag": object.etag, "Accept-Ranges": "bytes",
            "x-goog-generation": String(object.generation), "x-goog-metageneration": String(object.metageneration),
            "x-goog-storage-class": "STANDARD", "x-goog-hash": object.hash,
            "Content-Disposition": object.disposition,
        ]
        if let encoding = object.fields["contentEncoding"]?.string, encoding != "identity" {
            response.headers.add("Content-Encoding", encoding)
        }
        if let control = object.fields["cacheControl"]?.string { response.headers.add("Cache-Control", control) }
        if let header = range.header { response.headers.add("Content-Range", header) }
        return response
    }

    func patch(_ request: ServerRequest, _ caller: LocalCaller) async throws(LocalFirebaseFileError) -> ServerResponse {
        let (bucket, name) = place(request)
        try check(.write, of: caller, name)
        let changes = try await Self.object(in: request)
        let now = now()
        guard let object = buckets.change(bucket, name, { $0.patch(changes, now: now) }) else { throw .notFound }
        return Self.changed(object)
    }

    private static func changed(_ object: LocalFile) -> ServerResponse {
        var response = ServerResponse.json(object.resource.bytes())
        for (name, value) in object.changedHeaders where value.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) {
            response.headers[name] = value
        }
        return response
    }

    func delete(_ request: ServerRequest, _ caller: LocalCaller) throws(LocalFirebaseFileError) -> ServerResponse {
        let (bucket, name) = place(request)
        try check(.write, of: caller, name)
        guard buckets.remove(bucket, name) else { throw .notFound }
        return ServerResponse(status: 204)
    }

    /// Creates or removes download tokens; or starts an upload, in the format of one of the vendor's clients.
    func post(_ request: ServerRequest, _ caller: LocalCaller) async throws(LocalFirebaseFileError) -> ServerResponse {
        let (bucket, name) = place(request)
        let (made, ended) = (request.query("create_token"), request.query("delete_token"))
        guard made != nil || ended != nil else { return try await receive(request, caller) }
        guard caller == .owner else { throw .missingCredentials }
        guard made == nil || made == "true" else { throw .badRequest }
        let isNew = made != nil
        let object = buckets.change(bucket, name) { object in
            if let ended { object.downloadTokens.removeAll { $0 == ended } }
            // There is always one token, unless the object never had any.
            if isNew || object.downloadTokens.isEmpty { object.downloadTokens.append(RandomID.uuid()) }
            object.metageneration += 1
        }
        guard let object else { throw .notFound }
        return Self.changed(object)
    }

    // MARK: Lists

    func list(_ request: ServerRequest, _ caller: LocalCaller) throws(LocalFirebaseFileError) -> ServerResponse {
        let prefix = request.query("prefix") ?? ""
        guard prefix.isEmpty || (prefix.hasSuffix("/") && !prefix.hasSuffix("//")) else { throw .badPrefix }
        let delimiter = request.query("delimiter") ?? ""
        let bucket = request.parameters["bucket"] ?? ""
        guard mayList(prefix, isDeep: delimiter.isEmpty, caller) else { throw .forbidden("LIST") }
        let most = min(max(request.query("maxResults").flatMap { Int($0) } ?? 1000, 1), 1000)
        var entries: Set<[UInt8]> = []
        for name in buckets.names(in: bucket) where name.hasPrefix(prefix) && !name.includes("//") {
            let rest = name.dropFirst(prefix.count)
            guard !delimiter.isEmpty, let end = rest.firstRange(of: delimiter) else {
                entries.insert(Array(name.utf8))
                continue
            }
            entries.insert(Array((prefix + rest[..<end.upperBound]).utf8))
        }
        let after = request.query("pageToken").flatMap { Base64.decode($0, alphabet: .url) }
        let rest = entries.sorted { $0.lexicographicallyPrecedes($1) }
            .drop { entry in after.map { !$0.lexicographicallyPrecedes(entry) } ?? false }
        let shown = rest.prefix(most).map { String(decoding: $0, as: UTF8.self) }
        var page = JSONObject()
        page["prefixes"] = .array(shown.filter { isFolder($0, prefix, delimiter) }.map { .string($0) })
        page["items"] = .array(
            shown.filter { !isFolder($0, prefix, delimiter) }.map {
                .object(["name": .string($0), "bucket": .string(bucket)])
            })
        if rest.count > most, let last = shown.last {
            page["nextPageToken"] = .string(Base64.encode(Array(last.utf8), alphabet: .url))
        }
        return .json(JSON.object(page).bytes())
    }

    private func isFolder(_ entry: String, _ prefix: String, _ delimiter: String) -> Bool {
        !delimiter.isEmpty && entry.hasSuffix(delimiter) && entry != prefix
    }

    /// Callers may list a folder if they may read all possible contents; rules do not filter.
    private func mayList(_ prefix: String, isDeep: Bool, _ caller: LocalCaller) -> Bool {
        let folder = prefix.split(separator: "/").map(String.init)
        // The top level contains all users' trees, and a user's folder that user's tree.
        if isDeep, folder.isEmpty { return !rules.bind(caller) }
        return rules.allow(.read, of: caller, file: folder + (isDeep ? ["any", "any", "any"] : ["any"]))
    }

    // MARK: Bodies

    static func object(in request: ServerRequest) async throws(LocalFirebaseFileError) -> JSONObject {
        let bytes = try await body(of: request, upTo: 1 << 20)
        guard let json = try? JSON(parsing: bytes), let object = json.object else { throw .badRequest }
        return object
    }

    static func body(of request: ServerRequest, upTo limit: Int) async throws(LocalFirebaseFileError) -> [UInt8] {
        do throws(ServerError) {
            return try await request.body.collect(upTo: limit)
        } catch {
            if case .bodyTooLarge = error { throw .tooLarge }
            throw .badRequest
        }
    }
}

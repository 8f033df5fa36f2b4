import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Operations on existing objects: lists, moves, copies, deletions.
extension LocalSupabaseFileStorage {
    // MARK: Lists

    func list(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let body = try await json(request)
        guard let prefix = body["prefix"]?.string else {
            throw .invalidRequest("body must have required property 'prefix'")
        }
        let found = try await rows.level(
            request.parameters["bucket"] ?? "",
            prefix: prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/",
            search: body["search"]?.string ?? "",
            try FileRows.Order(
                body["sortBy"], columns: ["name", "updated_at", "created_at", "last_accessed_at"]),
            limit: Int(min(max(Self.integer("limit", in: body) ?? 100, 0), 10_000)),
            offset: Int(max(Self.integer("offset", in: body) ?? 0, 0)), as: token)
        return .json(found.bytes())
    }

    func listPage(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let body = try await json(request)
        let bucket = request.parameters["bucket"] ?? ""
        let limit = Self.integer("limit", in: body).map { Int($0) } ?? 1000
        guard (1...1000).contains(limit) else { throw .invalidRequest("body/limit must be <= 1000") }
        let cursor = try body["cursor"]?.string.map { text throws(Failure) in try Self.cursor(text) }
        let found = try await rows.page(
            bucket, prefix: body["prefix"]?.string ?? "", isFlat: body["with_delimiter"]?.bool != true,
            try FileRows.Order(body["sortBy"], columns: ["name", "updated_at", "created_at"]), limit: limit,
            after: cursor, as: token)
        let shown = found.prefix(limit)
        var answer: JSONObject = ["hasNext": .bool(found.count > limit)]
        // If folders are listed, each entry also has its name without the folder's slash.
        let isFlat = body["with_delimiter"]?.bool != true
        func keyed(_ entry: JSON, _ name: String) -> JSON {
            guard !isFlat, var object = entry.object else { return entry }
            object["key"] = .string(name.hasSuffix("/") ? String(name.dropLast()) : name)
            return .object(object)
        }
        answer["objects"] = .array(
            shown.compactMap { entry in
                entry["row"].flatMap { $0.isNull ? nil : keyed($0, entry["name"]?.string ?? "") }
            })
        answer["folders"] = .array(
            shown.filter { $0["row"]?.isNull != false }.map { entry in
                keyed(
                    [
                        "id": .null, "name": entry["name"] ?? .null, "updated_at": .null, "created_at": .null,
                        "last_accessed_at": .null, "metadata": .null,
                    ], entry["name"]?.string ?? "")
            })
        if found.count > limit, let last = shown.last {
            let mark: JSON = [last["place"] ?? "", last["name"] ?? ""]
            answer["nextCursor"] = .string(Base64.encode(mark.bytes(), alphabet: .url))
            answer["nextCursorKey"] = last["name"] ?? ""
        }
        return .json(JSON.object(answer).bytes())
    }

    private static func cursor(_ text: String) throws(Failure) -> (String, String) {
        guard let bytes = Base64.decode(text, alphabet: .url) else {
            throw Failure(400, "InvalidParameter", "Invalid parameter: cursor")
        }
        // The vendor's format: the name of the last entry, without the slash of a folder.
        if bytes.starts(with: Array("l:".utf8)) {
            let name = String(decoding: bytes.dropFirst(2), as: UTF8.self) + "/"
            return (name, name)
        }
        guard let json = try? JSON(parsing: bytes), let place = json[0]?.string, let name = json[1]?.string
        else { throw Failure(400, "InvalidParameter", "Invalid parameter: cursor") }
        return (place, name)
    }

    // MARK: Moves and copies

    private func ends(of body: JSON) throws(Failure) -> (source: FileObjectName, destination: FileObjectName) {
        guard let bucket = body["bucketId"]?.string, let source = body["sourceKey"]?.string,
            let destination = body["destinationKey"]?.string
        else { throw .invalidRequest("body must have required properties bucketId, sourceKey, destinationKey") }
        return (
            try FileObjectName(bucket: bucket, name: source),
            try FileObjectName(bucket: body["destinationBucket"]?.string ?? bucket, name: destination)
        )
    }

    func move(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let (source, destination) = try ends(of: try await json(request))
        _ = try await rows.move(source, to: destination, as: token)
        return .message("Successfully moved")
    }

    func copy(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let body = try await json(request)
        let (place, destination) = try ends(of: body)
        guard let source = try await rows.object(place, as: token) else { throw .noSuchKey }
        var object = NewObject(
            place: destination, contentType: source.contentType, cacheControl: source.cacheControl, notes: source.notes,
            replaces: request.headers["x-upsert"] == "true", owner: token.subject)
        if body["copyMetadata"]?.bool == false {
            object.contentType = body["metadata"]?["mimetype"]?.string ?? source.contentType
            object.cacheControl = body["metadata"]?["cacheControl"]?.string ?? "no-cache"
            object.notes = Self.notes(request.headers["x-metadata"])
        }
        let bucket = try await rows.bucket(destination.bucket)
        try bucket.check(type: object.contentType)
        try bucket.check(size: source.size, isResumable: true)
        try await rows.check(object, as: token)
        let version = try contents.share(source.version)
        var system = source.system
        system["mimetype"] = .string(object.contentType)
        system["cacheControl"] = .string(object.cacheControl)
        system["lastModified"] = .string(moment)
        let stored = try await keep(object, version: version, .object(system))
        var answer = try await rows.whole(stored.id).object ?? [:]
        answer["Id"] = .string(stored.id)
        answer["Key"] = .string(destination.key)
        return .json(JSON.object(answer).bytes())
    }

    // MARK: Deletions

    func delete(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let place = try FileObjectName(request, behind: "object")
        // Everyone may learn whether it exists; the policies decide whether it may be deleted.
        guard try await rows.object(place, as: .service) != nil else { throw .noSuchKey }
        let gone = try await rows.remove([place.name], from: place.bucket, as: token)
        guard gone.array?.isEmpty == false else { throw .accessDenied("Access denied") }
        await sweep()
        return .message("Successfully deleted")
    }

    func deleteMany(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        guard let names = try await json(request)["prefixes"]?.array?.compactMap(\.string), names.count <= 1000 else {
            throw .invalidRequest("body/prefixes must be a list of at most 1000 names")
        }
        let gone = try await rows.remove(names, from: request.parameters["bucket"] ?? "", as: token)
        await sweep()
        return .json(gone.bytes())
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Operations on existing objects: lists, moves, copies, deletions.
extension LocalSupabaseFileStorage {
    // MARK: Lists

    func list(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let body = try await body(request, .list)
        let token = try caller(request)
        let prefix = body["prefix"]?.string ?? ""
        let found = try await rows.level(
            request.parameters["bucket"] ?? "",
            prefix: prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/",
            search: body["search"]?.string ?? "", FileRows.Order(body["sortBy"]),
            limit: min(body["limit"]?.int ?? 100, 10_000), offset: body["offset"]?.int ?? 0, as: token)
        return .json(found.bytes())
    }

    func listPage(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let body = try await body(request, .listPage)
        let token = try caller(request)
        let bucket = request.parameters["bucket"] ?? ""
        let limit = min(body["limit"]?.int ?? 1000, 1000)
        let mark = body["cursor"]?.string ?? ""
        let cursor = mark.isEmpty ? nil : try Self.cursor(mark)
        let found = try await rows.page(
            bucket, prefix: body["prefix"]?.string ?? "", isFlat: body["with_delimiter"]?.bool != true,
            FileRows.Order(body["sortBy"]), limit: limit, after: cursor, as: token)
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
            throw .invalidParameter("cursor")
        }
        // The vendor's format: the name of the last entry, without the slash of a folder.
        if bytes.starts(with: Array("l:".utf8)) {
            let name = String(decoding: bytes.dropFirst(2), as: UTF8.self) + "/"
            return (name, name)
        }
        guard let json = try? JSON(parsing: bytes), let place = json[0]?.string, let name = json[1]?.string
        else { throw .invalidParameter("cursor") }
        return (place, name)
    }

    // MARK: Moves and copies

    private func ends(of body: JSON) throws(Failure) -> (source: FileObjectName, destination: FileObjectName) {
        func text(_ name: String) -> String { body[name]?.string ?? "" }
        let other = text("destinationBucket")
        return (
            try FileObjectName(bucket: text("bucketId"), name: text("sourceKey")),
            try FileObjectName(bucket: other.isEmpty ? text("bucketId") : other, name: text("destinationKey"))
        )
    }

    func move(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let body = try await body(request, .move)
        let token = try caller(request)
        let (source, destination) = try ends(of: body)
        _ = try await rows.move(source, to: destination, as: token)
        return .message("Successfully moved")
    }

    func copy(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let body = try await body(request, .copy)
        let token = try caller(request)
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
        try await checkBody(of: request)
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
        let names = try await body(request, .removal)["prefixes"]?.array?.compactMap(\.string) ?? []
        let token = try caller(request)
        guard names.count <= 1000 else {
            throw .invalidRequest("Bulk object requests are limited to 1000 objects per request.")
        }
        let gone = try await rows.remove(names, from: request.parameters["bucket"] ?? "", as: token)
        await sweep()
        return .json(gone.bytes())
    }
}

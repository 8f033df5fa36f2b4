import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Uploads in one request: as a plain body, or as the fields of a form.
extension LocalSupabaseFileStorage {
    func upload(_ request: ServerRequest, replaces: Bool) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let object = NewObject(
            place: try FileObjectName(request, behind: "object"),
            replaces: replaces || request.headers["x-upsert"] == "true", owner: token.subject)
        let stored = try await receive(request, object, as: token)
        return .json(JSON.object(["Id": .string(stored.id), "Key": .string(stored.place.key)]).bytes())
    }

    /// Receives the contents of an object, after checking that they are allowed.
    func receive(
        _ request: ServerRequest, _ object: NewObject, as token: SupabaseToken
    ) async throws(Failure) -> FileObject {
        var object = object
        let type = request.headers["Content-Type"] ?? "application/octet-stream"
        guard MediaTypeName.isOne(type.prefix { $0 != ";" && $0 != " " }) else { throw .noMediaType }
        let bucket = try await rows.bucket(object.place.bucket)
        if let boundary = FormReader.boundary(in: type) {
            try await rows.check(object, as: token)
            let (contents, version) = try self.contents.receive()
            return try await storeOrDiscard(contents, version) { () throws(Failure) in
                try await self.readForm(request, boundary, &object, bucket, into: contents)
                return object
            }
        }
        object.contentType = type
        object.cacheControl = request.headers["Cache-Control"] ?? "no-cache"
        object.notes = Self.notes(request.headers["x-metadata"])
        try bucket.check(type: type)
        if let length = request.headers["Content-Length"].flatMap({ Int64($0) }) { try bucket.check(size: length) }
        try await rows.check(object, as: token)
        let (contents, version) = try self.contents.receive()
        return try await storeOrDiscard(contents, version) { () throws(Failure) in
            try await Self.append(request.body, to: contents, bucket)
            return object
        }
    }

    private func storeOrDiscard(
        _ contents: ServerContents, _ version: String, _ fill: () async throws(Failure) -> NewObject
    ) async throws(Failure) -> FileObject {
        do throws(Failure) {
            let object = try await fill()
            return try await keep(object, version: version, object.system(contents.sums, at: moment))
        } catch {
            contents.discard()
            throw error
        }
    }

    /// Creates an object from its contents.
    func keep(_ object: NewObject, version: String, _ system: JSON) async throws(Failure) -> FileObject {
        let stored = try await rows.store(object, version: version, system: system)
        await sweep()
        return stored
    }

    /// Writes the body as it arrives.
    static func append(
        _ body: ServerRequestBody, to contents: ServerContents, _ bucket: FileBucket, isResumable: Bool = false
    ) async throws(Failure) {
        let writer = contents.takeOver()
        do {
            for try await bytes in body {
                try bucket.check(size: contents.size + Int64(bytes.count), isResumable: isResumable)
                try contents.append(bytes, by: writer)
            }
        } catch let failure as Failure {
            throw failure
        } catch ServerContents.Failure.cannotBeWritten {
            throw .cannotStore
        } catch {
            throw .broken
        }
    }

    /// An app's custom metadata in a header; unreadable metadata is ignored.
    static func notes(_ header: String?) -> JSON {
        guard let header, let bytes = Base64.decode(header), let json = try? JSON(parsing: bytes), json.object != nil
        else { return .null }
        return json
    }

    // MARK: Forms

    private func readForm(
        _ request: ServerRequest, _ boundary: String, _ object: inout NewObject, _ bucket: FileBucket,
        into contents: ServerContents
    ) async throws(Failure) {
        var reader = FormReader(boundary: boundary)
        var hasFile = false
        var givenType: String?
        let writer = contents.takeOver()
        do {
            for try await bytes in request.body {
                for event in try reader.read(bytes) {
                    switch event {
                    case .field(let name, let value):
                        guard !hasFile else { break }
                        switch name {
                        case "cacheControl": object.cacheControl = "max-age=\(value)"
                        case "contentType": givenType = value
                        case "metadata", "userMetadata":
                            if let json = try? JSON(parsing: value), json.object != nil { object.notes = json }
                        default: break
                        }
                    case .fileBegins(let type):
                        guard !hasFile else { throw Failure(400, "InvalidRequest", "reach files limit") }
                        hasFile = true
                        object.contentType = givenType ?? type ?? "application/octet-stream"
                        try bucket.check(type: object.contentType)
                    case .fileBytes(let bytes):
                        try bucket.check(size: contents.size + Int64(bytes.count))
                        try contents.append(bytes, by: writer)
                    }
                }
            }
        } catch let failure as Failure {
            throw failure
        } catch is FormReader.Malformed {
            throw .invalidRequest("The form cannot be read")
        } catch {
            throw .broken
        }
        guard hasFile, reader.isAtEnd else { throw .invalidRequest("The form has no whole file") }
    }
}

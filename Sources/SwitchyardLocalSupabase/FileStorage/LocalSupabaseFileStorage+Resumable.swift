import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Uploads in parts, with the resumable protocol that the vendor offers (TUS 1.0.0).
extension LocalSupabaseFileStorage {
    struct ResumableObject: Sendable {
        let object: NewObject
        let version: String
        let bucket: FileBucket
        /// Whether a signed URL replaces a session.
        let isSigned: Bool
        /// In seconds; after that the upload is deleted.
        let end: Int64
    }

    /// The size of all parts but the last.
    static let part: Int64 = 6 << 20
    private static let lifetime: Int64 = 86_400

    func addResumableRoutes(to router: inout Router) {
        for (route, isSigned) in [("upload/resumable/sign", true), ("upload/resumable", false)] {
            onResumable(&router, .options, route) { _, _, _ in
                ServerResponse(
                    status: 204,
                    headers: [
                        "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0",
                        "Tus-Extension": "creation,creation-with-upload,creation-defer-length,termination,expiration",
                    ])
            }
            onResumable(&router, .post, route) { try await $0.begin($1, $2, isSigned: isSigned) }
            onResumable(&router, .head, route + "/{id}") { try await $0.state($1, $2, isSigned: isSigned) }
            onResumable(&router, .patch, route + "/{id}") { try await $0.take($1, $2, isSigned: isSigned) }
            onResumable(&router, .delete, route + "/{id}") { try await $0.abandon($1, $2, isSigned: isSigned) }
        }
    }

    private typealias Answer =
        @Sendable (LocalSupabaseFileStorage, ServerRequest, SupabaseToken?) async throws -> ServerResponse

    /// Tokens are checked first, with the usual refusals; all other errors are plain text with the actual status.
    private func onResumable(
        _ router: inout Router, _ method: HTTPMethod, _ route: String, _ handler: @escaping Answer
    ) {
        on(&router, method, route) { storage, request in
            let isSigned = route.hasPrefix("upload/resumable/sign")
            // A begun upload has an address that no one else knows; the vendor's own clients continue it with the token alone.
            let token =
                method == .options || isSigned ? nil : try storage.caller(request, needsKey: method == .post)
            let version = request.headers["Tus-Resumable"]
            guard method == .options || version == "1.0.0" else {
                let failure =
                    version == nil
                    ? Failure(412, "InvalidRequest", "Tus-Resumable Required\n")
                    : Failure(400, "InvalidRequest", "Invalid tus-resumable\n")
                return Self.withResumableHeaders(failure.plain.response)
            }
            do {
                return Self.withResumableHeaders(try await handler(storage, request, token))
            } catch {
                let failure = error as? Failure ?? .internalError
                return Self.withResumableHeaders(failure.plain.response)
            }
        }
    }

    private static func withResumableHeaders(_ answer: ServerResponse) -> ServerResponse {
        var response = answer
        response.headers["Tus-Resumable"] = "1.0.0"
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = [
            "Authorization", "Content-Type", "Location", "Tus-Extension", "Tus-Max-Size", "Tus-Resumable",
            "Tus-Version", "Upload-Concat", "Upload-Defer-Length", "Upload-Length", "Upload-Metadata",
            "Upload-Offset", "X-HTTP-Method-Override", "X-Requested-With", "X-Forwarded-Host", "X-Forwarded-Proto",
            "Forwarded,",
        ].joined(separator: ", ")
        if response.status != 204, response.headers["Content-Type"] == nil {
            response.headers["Content-Type"] = "text/plain;charset=UTF-8"
        }
        return response
    }

    // MARK: The steps

    private func begin(
        _ request: ServerRequest, _ token: SupabaseToken?, isSigned: Bool
    ) async throws(Failure) -> ServerResponse {
        let metadata = Self.metadata(request.headers["Upload-Metadata"])
        let length = request.headers["Upload-Length"].flatMap { Int64($0) }
        let isDeferred = request.headers["Upload-Defer-Length"] == "1"
        guard length.map({ $0 >= 0 && !isDeferred }) ?? isDeferred, let bucketID = metadata["bucketName"],
            let name = metadata["objectName"]
        else { throw .invalidRequest("Upload-Length or Upload-Defer-Length, bucketName and objectName are needed") }
        let place = try FileObjectName(bucket: bucketID, name: name)
        var object =
            isSigned
            ? try signedObject(place, request.headers["x-signature"])
            : NewObject(place: place, replaces: request.headers["x-upsert"] == "true", owner: token?.subject)
        object.contentType = metadata["contentType"] ?? object.contentType
        object.cacheControl = metadata["cacheControl"].flatMap { Int($0) }.map { "max-age=\($0)" } ?? "no-cache"
        if let notes = metadata["metadata"].flatMap({ try? JSON(parsing: $0) }), notes.object != nil {
            object.notes = notes
        }
        let bucket = try await rows.bucket(bucketID)
        try bucket.check(type: object.contentType)
        if let length { try Self.check(length, bucket) }
        try await rows.check(object, as: token ?? .service)
        let (contents, version) = try self.contents.receive()
        let session = Uploads.Session(
            id: Base64.encode(
                Array("\(place.key)/\(version)".utf8), alphabet: .url, padding: .absent),
            object: ResumableObject(
                object: object, version: version, bucket: bucket, isSigned: isSigned,
                end: access.now() + Self.lifetime),
            length: length, contents: contents)
        uploads.add(session)
        if request.headers["Content-Type"] == "application/offset+octet-stream" {
            try await Self.append(request.body, to: contents, bucket, isResumable: true)
        }
        let host = request.headers["Host"] ?? "127.0.0.1"
        let route = isSigned ? "upload/resumable/sign" : "upload/resumable"
        var response = try await answer(session, status: 201)
        response.headers.add("Location", "http://\(host)/storage/v1/\(route)/\(session.id)")
        response.headers.add("Upload-Expires", HTTPDate.format(session.object.end))
        return response
    }

    private static func check(_ length: Int64, _ bucket: FileBucket) throws(Failure) {
        guard (try? bucket.check(size: length, isResumable: true)) != nil else { throw .beyondLength }
    }

    /// The upload of a request, after checking that the caller may continue it.
    private func session(
        _ request: ServerRequest, _ token: SupabaseToken?, isSigned: Bool
    ) async throws(Failure) -> Uploads.Session {
        guard let session = uploads.session(request.parameters["id"] ?? ""), session.status == .active,
            session.object.isSigned == isSigned, isSigned || session.object.object.owner == token?.subject
        else { throw .noSuchUpload }
        guard session.object.end > access.now() else {
            uploads.forget(session.id)
            if session.end(.cancelled) { session.contents.discard() }
            throw Failure(410, "NoSuchUpload", "The upload has expired\n")
        }
        if let token {
            var object = session.object.object
            if request.headers.contains("x-upsert") { object.replaces = request.headers["x-upsert"] == "true" }
            try await rows.check(object, as: token)
        } else {
            _ = try signedObject(session.object.object.place, request.headers["x-signature"])
        }
        return session
    }

    private func state(
        _ request: ServerRequest, _ token: SupabaseToken?, isSigned: Bool
    ) async throws(Failure) -> ServerResponse {
        let session = try await session(request, token, isSigned: isSigned)
        // The client wants to continue, so bytes from an older connection are no longer accepted.
        _ = session.contents.takeOver()
        var response = ServerResponse(
            status: 200,
            headers: [
                "Upload-Offset": String(session.contents.size), "Cache-Control": "no-store",
                "Upload-Expires": HTTPDate.format(session.object.end),
            ])
        response.headers["Upload-Length"] = session.length.map(String.init)
        if session.length == nil { response.headers["Upload-Defer-Length"] = "1" }
        return response
    }

    private func take(
        _ request: ServerRequest, _ token: SupabaseToken?, isSigned: Bool
    ) async throws(Failure) -> ServerResponse {
        let session = try await session(request, token, isSigned: isSigned)
        guard request.headers["Content-Type"] == "application/offset+octet-stream" else {
            throw Failure(415, "InvalidRequest", "Content-Type must be application/offset+octet-stream\n")
        }
        guard let offset = request.headers["Upload-Offset"].flatMap({ Int64($0) }), offset == session.contents.size
        else { throw Failure(409, "InvalidRequest", "Upload-Offset conflict\n") }
        try fixLength(of: session, request)
        let total = session.length
        if let length = request.headers["Content-Length"].flatMap({ Int64($0) }) {
            guard total.map({ offset + length <= $0 }) ?? true else { throw .beyondLength }
            guard offset + length == total || length == Self.part else {
                throw .invalidRequest("Each part but the last has \(Self.part) bytes\n")
            }
        }
        try await Self.append(request.body, to: session.contents, session.object.bucket, isResumable: true)
        guard total.map({ session.contents.size <= $0 }) ?? true else { throw .beyondLength }
        return try await answer(session, status: 204)
    }

    /// Takes the length of an upload that was begun without one; it cannot change any more.
    private func fixLength(of session: Uploads.Session, _ request: ServerRequest) throws(Failure) {
        guard let length = request.headers["Upload-Length"].flatMap({ Int64($0) }), length != session.length else {
            return
        }
        guard session.length == nil else { throw .invalidRequest("Upload-Length conflict\n") }
        guard length >= session.contents.size else { throw .beyondLength }
        try Self.check(length, session.object.bucket)
        session.fix(length: length)
    }

    private func abandon(
        _ request: ServerRequest, _ token: SupabaseToken?, isSigned: Bool
    ) async throws(Failure) -> ServerResponse {
        let session = try await session(request, token, isSigned: isSigned)
        uploads.forget(session.id)
        if session.end(.cancelled) { session.contents.discard() }
        return ServerResponse(status: 204)
    }

    /// Answers with the progress; a complete upload becomes an object.
    private func answer(_ session: Uploads.Session, status: Int) async throws(Failure) -> ServerResponse {
        let size = session.contents.size
        var response = ServerResponse(status: status, headers: ["Upload-Offset": String(size)])
        guard size == session.length, session.end(.final) else { return response }
        uploads.forget(session.id)
        do throws(Failure) {
            let object = session.object.object
            if !object.replaces, try await rows.object(object.place, as: .service) != nil { throw .keyAlreadyExists }
            _ = try await keep(
                object, version: session.object.version, object.system(session.contents.sums, at: moment))
        } catch {
            session.contents.discard()
            throw error
        }
        response.headers.add("Tus-Complete", "1")
        return response
    }

    /// Parses `key base64, key base64`, ignoring unreadable pairs.
    private static func metadata(_ header: String?) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in (header ?? "").split(separator: ",") {
            let parts = pair.split(separator: " ")
            guard let key = parts.first else { continue }
            let bytes = parts.count > 1 ? Base64.decode(parts[1]) : []
            pairs[String(key)] = bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        return pairs
    }
}

extension LocalSupabaseFileError {
    fileprivate static let beyondLength = Self(413, "EntityTooLarge", "Maximum size exceeded\n")
}

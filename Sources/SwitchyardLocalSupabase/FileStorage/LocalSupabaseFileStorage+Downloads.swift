import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Downloads.
extension LocalSupabaseFileStorage {
    /// The audience of a URL.
    enum Audience: Sendable {
        /// Callers with a valid token.
        case authenticated
        /// Everyone; public buckets only.
        case everybody
        /// A valid token is used; otherwise the caller is anonymous.
        case either

        var route: String {
            switch self {
            case .authenticated: "authenticated/"
            case .everybody: "public/"
            case .either: ""
            }
        }
    }

    func download(_ request: ServerRequest, _ audience: Audience) async throws(Failure) -> ServerResponse {
        let place = try FileObjectName(request, behind: "object/\(audience.route)".withoutSlash)
        return try answer(try await object(place, audience, request), request)
    }

    func info(_ request: ServerRequest, _ audience: Audience) async throws(Failure) -> ServerResponse {
        let place = try FileObjectName(request, behind: "object/info/\(audience.route)".withoutSlash)
        let object = try await object(place, audience, request)
        var response = ServerResponse.json(object.info.bytes())
        response.headers["Cache-Control"] = object.cacheControl
        return response
    }

    func downloadSigned(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let place = try FileObjectName(request, behind: "object/sign")
        _ = try seal.claims(of: request.query("token"), .download, for: place)
        guard let object = try await rows.object(place, as: .service) else { throw .noSuchKey }
        return try answer(object, request)
    }

    private func object(
        _ place: FileObjectName, _ audience: Audience, _ request: ServerRequest
    ) async throws(Failure) -> FileObject {
        let token: SupabaseToken =
            switch audience {
            case .authenticated: try caller(request)
            case .everybody: .anonymous
            case .either: try callerOrAnonymous(request)
            }
        let isPublic = try await rows.bucket(place.bucket).isPublic
        if !isPublic {
            // A caller without any key; the key of an app shows only what the policies allow.
            let isAnonymous =
                SupabaseAccess.bearer(of: request) == nil && access.keyAsToken(of: request) == nil
            if case .everybody = audience { throw .noSuchBucket }
            if case .either = audience, isAnonymous { throw .noSuchBucket }
        }
        guard let object = try await rows.object(place, as: isPublic ? .service : token) else { throw .noSuchKey }
        return object
    }

    private func answer(_ object: FileObject, _ request: ServerRequest) throws(Failure) -> ServerResponse {
        let changed = RFC3339.parse(object.lastModified)?.seconds ?? 0
        var headers: HTTPHeaders = [
            "Content-Type": object.contentType, "ETag": object.etag, "Accept-Ranges": "bytes",
            "Last-Modified": HTTPDate.format(changed), "Cache-Control": object.cacheControl,
        ]
        if let name = request.query("download") { headers["Content-Disposition"] = Self.attachment(name) }
        if Self.isUnchanged(request, etag: object.etag, changed: changed, now: access.now()) {
            return ServerResponse(status: 304, headers: headers)
        }
        guard let range = ContentRange(of: request, size: object.size, etag: object.etag) else { throw .invalidRange }
        guard
            var response = ServerContents.answer(contents.path(of: object.version), range.bytes, status: range.status)
        else { throw .noSuchKey }
        if let header = range.header { headers["Content-Range"] = header }
        response.headers = headers
        return response
    }

    private static func isUnchanged(_ request: ServerRequest, etag: String, changed: Int64, now: Int64) -> Bool {
        if let known = request.headers["If-None-Match"] {
            return known.split(separator: ",").contains { $0.filter { $0 != " " } == etag || $0 == "*" }
        }
        guard let since = request.headers["If-Modified-Since"].flatMap({ HTTPDate.parse($0, now: now) }) else {
            return false
        }
        return changed <= since
    }

    private static func attachment(_ name: String) -> String {
        guard !name.isEmpty else { return "attachment;" }
        let coded = PercentCoding.encode(name)
        return "attachment; filename=\(coded); filename*=UTF-8''\(coded)"
    }
}

extension String {
    fileprivate var withoutSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}

/// The folder with the contents of objects, each under a generated name.
struct FileContentStore: Sendable {
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    /// Creates the folder. Without it, every upload fails with an error.
    func prepare() {
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func path(of version: String) -> String { folder.appendingPathComponent(version).path }

    /// Creates a file for uploaded contents.
    func receive() throws(LocalSupabaseFileError) -> (contents: ServerContents, version: String) {
        let version = RandomID.uuid()
        do throws(ServerContents.Failure) {
            return (try ServerContents(path(of: version)), version)
        } catch {
            throw .cannotStore
        }
    }

    /// Another reference to the same contents, which never change, so that both can share them.
    func share(_ version: String) throws(LocalSupabaseFileError) -> String {
        let copy = RandomID.uuid()
        do {
            try FileManager.default.linkItem(atPath: path(of: version), toPath: path(of: copy))
        } catch {
            throw .noSuchKey
        }
        return copy
    }

    func discard(_ version: String) {
        // Users' statements can write versions, too; only UUIDs are file names of this service.
        guard UUID(uuidString: version) != nil else { return }
        try? FileManager.default.removeItem(atPath: path(of: version))
    }
}

extension LocalSupabaseFileError {
    static let cannotStore = Self(500, "InternalError", "The contents cannot be written")
}

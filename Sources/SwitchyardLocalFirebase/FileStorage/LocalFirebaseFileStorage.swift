package import Foundation
package import Switchyard
import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// The file storage of a local Firebase: the interface that the vendor's clients use, under `/v0`.
///
/// It is stricter than the vendor's emulator, which tolerates some client errors: it refuses bytes at a wrong offset, checks
/// tokens with every request, and formats checksums like the service.
package final class LocalFirebaseFileStorage: LocalFirebaseService {
    let buckets: LocalBuckets
    let uploads = Uploads()
    let rules: LocalRules
    let identities: any LocalIdentities
    /// The project whose tokens are valid; for error messages.
    let project: String
    let now: @Sendable () -> Timestamp

    /// - Parameter folder: The folder for objects; `nil` for a temporary one.
    package init(
        rules: LocalRules, identities: any LocalIdentities, project: String, folder: URL? = nil,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }
    ) throws(LocalFirebaseError) {
        self.rules = rules
        self.identities = identities
        self.project = project
        self.now = now
        buckets = try LocalBuckets(folder)
    }

    /// Deletes unfinished uploads, as the service does after a week.
    package func forgetUploads() { uploads.forgetAll() }

    /// The contents of an object, for tests.
    package func contents(of name: String, in bucket: String) -> [UInt8]? {
        buckets.object(bucket, name).flatMap { object in
            try? [UInt8](Data(contentsOf: URL(fileURLWithPath: buckets.path(of: object))))
        }
    }

    /// Deletes all files of all buckets.
    func reset() {
        uploads.forgetAll()
        buckets.removeAll()
    }

    package func stop() async { uploads.forgetAll() }

    package func addRoutes(to router: inout Router) {
        on(&router, .get, "/v0") { _, _, _ in .json(JSON.object(["emulator": "storage"]).bytes()) }
        router.on(.post, "/internal/reset") { [self] _ in
            reset()
            return ServerResponse()
        }
        on(&router, .get, "/v0/b/{bucket}/o") { try $0.list($1, $2) }
        on(&router, .post, "/v0/b/{bucket}/o") { try await $0.receive($1, $2) }
        // A name is one segment, with its slashes encoded.
        on(&router, .get, "/v0/b/{bucket}/o/{object}") { try $0.get($1, $2) }
        on(&router, .post, "/v0/b/{bucket}/o/{object}") { try await $0.post($1, $2) }
        on(&router, .patch, "/v0/b/{bucket}/o/{object}") { try await $0.patch($1, $2) }
        on(&router, .put, "/v0/b/{bucket}/o/{object}") { storage, request, caller in
            request.headers["X-HTTP-Method-Override"] == "PATCH"
                ? try await storage.patch(request, caller) : try await storage.receive(request, caller)
        }
        on(&router, .put, "/v0/b/{bucket}/o") { try await $0.receive($1, $2) }
        on(&router, .delete, "/v0/b/{bucket}/o/{object}") { try $0.delete($1, $2) }
        on(&router, .get, "/v0/{rest...}") { _, request, _ in
            throw LocalFirebaseFileError.noSuchObject(String(request.path.dropFirst()))
        }
        on(&router, nil, "/v0/{rest...}") { _, _, _ in throw LocalFirebaseFileError.notImplemented }
        router.on(.put, "/internal/setRules") { _ in
            .json(
                JSON.object([
                    "message":
                        "Rules are not read here: a local Firebase has a fixed set. Start it with --open to pass everything."
                ]).bytes(), status: 501)
        }
    }

    private func on(
        _ router: inout Router, _ method: HTTPMethod?, _ pattern: String,
        _ handler:
            @escaping @Sendable (LocalFirebaseFileStorage, ServerRequest, LocalCaller) async throws -> ServerResponse
    ) {
        router.on(method, pattern) { [self] request in
            var response: ServerResponse
            do {
                response = try await handler(self, request, caller(of: request))
            } catch {
                response = (error as? LocalFirebaseFileError ?? .internalError).response
            }
            response.headers["Access-Control-Expose-Headers"] = Self.exposed
            return response
        }
    }

    /// The response headers that web pages may read; uploads need them.
    private static let exposed = [
        "content-type", "x-firebase-storage-version", "X-Goog-Upload-Size-Received", "x-goog-upload-url",
        "x-goog-upload-command", "x-gupload-uploadid", "x-goog-upload-header-content-length",
        "x-goog-upload-header-content-type", "x-goog-upload-protocol", "x-goog-upload-status",
        "x-goog-upload-chunk-granularity", "x-goog-upload-control-url",
    ].joined(separator: ",")

    private func caller(of request: ServerRequest) throws(LocalFirebaseFileError) -> LocalCaller {
        let bucket = request.parameters["bucket"] ?? ""
        do throws(LocalTokenFailure) {
            return try identities.caller(
                authorization: request.headers["Authorization"], projects: [project] + Self.projects(ofBucket: bucket))
        } catch {
            if case .otherProject(let found) = error { throw .otherProject(found, served: project) }
            throw .unauthenticated
        }
    }

    /// The project to whose default bucket a name belongs.
    private static func projects(ofBucket name: String) -> [String] {
        [".appspot.com", ".firebasestorage.app"].filter(name.hasSuffix).map { String(name.dropLast($0.count)) }
    }

    // MARK: Rules

    func check(
        _ action: LocalRules.Action, of caller: LocalCaller, _ name: String
    ) throws(LocalFirebaseFileError) {
        let segments = name.split(separator: "/").map(String.init)
        guard rules.allow(action, of: caller, file: segments) else {
            throw .forbidden(action == .read ? "READ" : "WRITE")
        }
    }
}

/// The error responses, word for word like those of the vendor's emulator.
enum LocalFirebaseFileError: Error {
    case badRequest
    case badType(String)
    case badParts
    case missingCredentials
    case noSuchObject(String)
    case notImplemented
    case badPrefix
    case unauthenticated
    /// The vendor's emulator does not check the project.
    case otherProject(String, served: String)
    case forbidden(String)
    case notFound
    case tooLarge
    case rangeNotSatisfiable(size: Int64)
    case internalError

    var response: ServerResponse {
        switch self {
        case .badRequest: .text("Bad Request", status: 400)
        case .badType(let type):
            .text("Bad content type. \(type)", status: 400, type: "text/html; charset=utf-8")
        case .badParts:
            .text("Unexpected number of parts in request body", status: 400, type: "text/html; charset=utf-8")
        case .missingCredentials: Self.json(403, "Missing admin credentials.")
        case .noSuchObject(let path):
            .json(
                JSON.object([
                    "error": [
                        "code": 404, "message": .string("No such object: \(path)"),
                        "errors": [
                            [
                                "message": .string("No such object: \(path)"), "domain": "global",
                                "reason": "notFound",
                            ]
                        ],
                    ]
                ]).bytes(), status: 404)
        case .notImplemented: .text("Not Implemented", status: 501)
        case .badPrefix:
            Self.json(400, "The prefix parameter is required to be empty or ends with a single / character.")
        case .unauthenticated: Self.json(401, "Unauthenticated. Please make sure you are signed in.")
        case .otherProject(let found, let served):
            Self.json(401, LocalFirestore.words(tokenOf: found, served: served))
        case .forbidden(let right): Self.json(403, "Permission denied. No \(right) permission.")
        case .notFound: .text("Not Found", status: 404)
        case .tooLarge: .text("Payload Too Large", status: 413)
        case .rangeNotSatisfiable(let size):
            ServerResponse(status: 416, headers: ["Content-Range": "bytes */\(size)"])
        case .internalError: .text("Internal Server Error", status: 500)
        }
    }

    private static func json(_ status: Int, _ message: String) -> ServerResponse {
        .json(
            JSON.object(["error": ["code": .integer(Int64(status)), "message": .string(message)]]).bytes(),
            status: status)
    }
}

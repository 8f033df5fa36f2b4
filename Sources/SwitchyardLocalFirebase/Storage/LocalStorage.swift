package import Foundation
package import Switchyard
import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// The file storage of a local Firebase: the interface that the vendor's clients use, under `/v0`.
///
/// It is stricter than the vendor's emulator where that lets clients get away with mistakes: bytes at a wrong offset are
/// refused, tokens are checked with every request, and checksums are written as the service writes them.
package final class LocalStorage: LocalFirebaseService {
    let buckets: LocalBuckets
    let uploads = Uploads()
    let rules: LocalRules
    let identities: any LocalIdentities
    let now: @Sendable () -> Timestamp

    /// - Parameter folder: Where objects are kept; in a temporary one when `nil`.
    package init(
        rules: LocalRules, identities: any LocalIdentities, folder: URL? = nil,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }
    ) throws(LocalFirebaseError) {
        self.rules = rules
        self.identities = identities
        self.now = now
        buckets = try LocalBuckets(folder)
    }

    /// Forgets the uploads that are not finished, as the service does after a week.
    package func forgetUploads() { uploads.forgetAll() }

    /// The contents of an object, for tests.
    package func contents(of name: String, in bucket: String) -> [UInt8]? {
        buckets.object(bucket, name).flatMap { object in
            try? [UInt8](Data(contentsOf: URL(fileURLWithPath: buckets.path(of: object))))
        }
    }

    package func stop() async { uploads.forgetAll() }

    package func addRoutes(to router: inout Router) {
        router.on(.get, "/v0") { _ in .json(JSON.object(["emulator": "storage"]).bytes()) }
        router.on(.post, "/internal/reset") { [self] _ in
            uploads.forgetAll()
            buckets.removeAll()
            return ServerResponse()
        }
        on(&router, .get, "/v0/b/{bucket}/o") { try $0.list($1, $2) }
        on(&router, .post, "/v0/b/{bucket}/o") { try await $0.receive($1, $2) }
        on(&router, .get, "/v0/b/{bucket}/o/{object...}") { try $0.get($1, $2) }
        on(&router, .post, "/v0/b/{bucket}/o/{object...}") { try await $0.post($1, $2) }
        on(&router, .patch, "/v0/b/{bucket}/o/{object...}") { try await $0.patch($1, $2) }
        on(&router, .put, "/v0/b/{bucket}/o/{object...}") { storage, request, caller in
            guard request.headers["X-HTTP-Method-Override"] == "PATCH" else { throw LocalStorageFailure.badRequest }
            return try await storage.patch(request, caller)
        }
        on(&router, .delete, "/v0/b/{bucket}/o/{object...}") { try $0.delete($1, $2) }
    }

    private func on(
        _ router: inout Router, _ method: HTTPMethod, _ pattern: String,
        _ handler: @escaping @Sendable (LocalStorage, ServerRequest, LocalCaller) async throws -> ServerResponse
    ) {
        router.on(method, pattern) { [self] request in
            do {
                return try await handler(self, request, caller(of: request))
            } catch {
                return (error as? LocalStorageFailure ?? .internalError).response
            }
        }
    }

    private func caller(of request: ServerRequest) throws(LocalStorageFailure) -> LocalCaller {
        do throws(LocalTokenFailure) {
            return try identities.caller(authorization: request.headers["Authorization"])
        } catch {
            throw .unauthenticated
        }
    }

    // MARK: Rules

    func check(
        _ action: LocalRules.Action, of caller: LocalCaller, _ name: String
    ) throws(LocalStorageFailure) {
        let segments = name.split(separator: "/").map(String.init)
        guard rules.allow(action, of: caller, file: segments) else {
            throw .forbidden(action == .read ? "READ" : "WRITE")
        }
    }
}

/// What an answer says that is no success, word for word as the vendor's emulator does.
enum LocalStorageFailure: Error {
    case badRequest
    case badPrefix
    case unauthenticated
    case forbidden(String)
    case notFound
    case tooLarge
    case rangeNotSatisfiable(size: Int64)
    case internalError

    var response: ServerResponse {
        switch self {
        case .badRequest: .text("Bad Request", status: 400)
        case .badPrefix:
            Self.json(400, "The prefix parameter is required to be empty or ends with a single / character.")
        case .unauthenticated: Self.json(401, "Unauthenticated. Please make sure you are signed in.")
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

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The file service of a local Supabase, under `/storage/v1`.
///
/// Buckets and objects are rows, and the policies on `storage.buckets` and `storage.objects` decide who may access them.
/// Contents are files in a folder. It is stricter than the vendor's service in two ways: the bucket's limit also applies to a
/// body without a length, and parts of resumable uploads must have the size that the vendor requires.
final class LocalSupabaseFileStorage: LocalSupabaseService {
    typealias Failure = LocalSupabaseFileError
    typealias Uploads = ServerUploads<ResumableObject>

    let rows: FileRows
    let contents: FileContentStore
    let access: SupabaseAccess
    let seal: FileURLSigner
    let uploads = Uploads()
    private let context: LocalSupabaseContext

    init(_ context: LocalSupabaseContext) {
        self.context = context
        rows = FileRows(database: context.database)
        access = context.access
        seal = FileURLSigner(context.access)
        contents = FileContentStore(context.files.appendingPathComponent("objects", isDirectory: true))
    }

    var schema: String { String(decoding: PackageResources.storage_sql, as: UTF8.self) }

    func start() async throws(PostgresFailure) {
        contents.prepare()
        await sweep()
    }

    func stop() async { uploads.forgetAll() }

    func addRoutes(to router: inout Router) {
        addBucketRoutes(to: &router)
        addResumableRoutes(to: &router)
        on(&router, .post, "object/list/{bucket}") { try await $0.list($1) }
        on(&router, .post, "object/list-v2/{bucket}") { try await $0.listPage($1) }
        on(&router, .post, "object/move") { try await $0.move($1) }
        on(&router, .post, "object/copy") { try await $0.copy($1) }
        on(&router, .post, "object/sign/{bucket}") { try await $0.signMany($1) }
        on(&router, .post, "object/sign/{object...}") { try await $0.sign($1) }
        on(&router, .get, "object/sign/{object...}") { try await $0.downloadSigned($1) }
        on(&router, .post, "object/upload/sign/{object...}") { try await $0.signUpload($1) }
        on(&router, .put, "object/upload/sign/{object...}") { try await $0.uploadSigned($1) }
        for audience in [Audience.authenticated, .everybody, .either] {
            on(&router, .get, "object/info/\(audience.route){object...}") { try await $0.info($1, audience) }
        }
        for audience in [Audience.authenticated, .everybody] {
            on(&router, .get, "object/\(audience.route){object...}") { try await $0.download($1, audience) }
        }
        on(&router, .delete, "object/{bucket}") { try await $0.deleteMany($1) }
        on(&router, .delete, "object/{object...}") { try await $0.delete($1) }
        on(&router, .post, "object/{object...}") { try await $0.upload($1, replaces: false) }
        on(&router, .put, "object/{object...}") { try await $0.upload($1, replaces: true) }
        on(&router, .get, "object/{object...}") { try await $0.download($1, .either) }
        on(&router, nil, "render/{rest...}") { Failure.noRoute($1, isInShape: true) }
        on(&router, nil, "{rest...}") { Failure.noRoute($1) }
    }

    /// - Parameter route: A path pattern below the service's own path.
    func on(
        _ router: inout Router, _ method: HTTPMethod?, _ route: String,
        _ handler: @escaping @Sendable (LocalSupabaseFileStorage, ServerRequest) async throws -> ServerResponse
    ) {
        router.on(method, "/storage/v1/\(route)") { [self] request in
            do {
                return try await handler(self, request)
            } catch {
                return (error as? Failure ?? .internalError).response
            }
        }
    }

    // MARK: Callers

    /// - Parameter needsKey: Whether a session's token alone does not pass the gateway.
    func caller(_ request: ServerRequest, needsKey: Bool = true) throws(Failure) -> SupabaseToken {
        let bearer = SupabaseAccess.bearer(of: request)
        guard let text = bearer ?? SupabaseAccess.key(of: request) else {
            throw .accessDenied("headers must have required property 'authorization': no JWT")
        }
        if needsKey, bearer != nil {
            do throws(SupabaseAccess.MissingKey) { try access.checkKey(of: request) } catch { throw .noKey(error) }
        }
        do throws(SupabaseToken.Refusal) {
            return try access.token(text)
        } catch {
            throw Failure(error)
        }
    }

    /// The caller; anonymous if the token is not valid.
    func callerOrAnonymous(_ request: ServerRequest) throws(Failure) -> SupabaseToken {
        do throws(Failure) {
            return try caller(request)
        } catch {
            if error.isOfGateway { throw error }
            return .anonymous
        }
    }

    // MARK: Bodies

    func json(_ request: ServerRequest) async throws(Failure) -> JSON {
        do {
            let bytes = try await request.body.collect(upTo: 1 << 20)
            let json = bytes.isEmpty ? .object([:]) : try JSON(parsing: bytes)
            if json.object != nil { return json }
        } catch is ServerError {
            throw .broken
        } catch {}
        throw .invalidRequest("body must be an object")
    }

    /// A whole number in a body, which may be written as text.
    static func integer(_ name: String, in body: JSON) -> Int64? {
        body[name].flatMap { $0.int64 ?? $0.string.flatMap { Int64($0) } }
    }

    /// Removes unreferenced contents after a write.
    func sweep() async {
        for version in (try? await rows.discarded()) ?? [] { contents.discard(version) }
    }

    /// The current time in the service's format.
    var moment: String {
        let now = context.now
        return RFC3339.format(.init(seconds: now.seconds, nanoseconds: now.nanoseconds), fraction: .digits(3))
    }
}

extension SupabaseToken {
    /// Bypasses all policies.
    static let service = SupabaseToken(claims: ["role": "service_role"])
    static let anonymous = SupabaseToken(claims: ["role": "anon"])

    /// The user; not every issuer uses UUIDs.
    var subject: String? { claims["sub"]?.string }
}

/// Buckets. Policies on `storage.buckets` decide who may create and change them; at first, only the service key.
extension LocalSupabaseFileStorage {
    func addBucketRoutes(to router: inout Router) {
        on(&router, .post, "bucket") { try await $0.createBucket($1) }
        on(&router, .get, "bucket") { try await $0.listBuckets($1) }
        on(&router, .get, "bucket/{bucket}") { storage, request in
            let token = try storage.caller(request)
            guard let bucket = try await storage.rows.bucket(request.parameters["bucket"] ?? "", as: token) else {
                throw Failure.noSuchBucket
            }
            return .json(bucket.bytes())
        }
        on(&router, .put, "bucket/{bucket}") { storage, request in
            let token = try storage.caller(request)
            try await storage.rows.update(
                request.parameters["bucket"] ?? "", try await storage.json(request), as: token)
            return .message("Successfully updated")
        }
        on(&router, .delete, "bucket/{bucket}") { storage, request in
            try await storage.rows.delete(request.parameters["bucket"] ?? "", as: try storage.caller(request))
            return .message("Successfully deleted")
        }
        on(&router, .post, "bucket/{bucket}/empty") { storage, request in
            let token = try storage.caller(request)
            let id = request.parameters["bucket"] ?? ""
            guard try await storage.rows.bucket(id, as: token) != nil else { throw Failure.noSuchBucket }
            try await storage.rows.removeAll(from: id, as: token)
            await storage.sweep()
            return .message("Empty bucket has been queued. Completion may take up to an hour.")
        }
    }

    private func createBucket(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let body = try await json(request)
        guard let name = body["id"]?.string ?? body["name"]?.string else {
            throw .invalidRequest("body must have required property 'name'")
        }
        guard FileObjectName.isBucket(name) else { throw .invalidBucketName }
        try await rows.create(name, body, as: token)
        return .json(JSON.object(["name": .string(name)]).bytes())
    }

    private func listBuckets(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let order = try FileRows.Order(
            [
                "column": .string(request.query("sortColumn") ?? "created_at"),
                "order": .string(request.query("sortOrder") ?? "asc"),
            ],
            columns: ["id", "name", "created_at", "updated_at"])
        let buckets = try await rows.buckets(
            search: request.query("search") ?? "", order,
            limit: request.query("limit").flatMap { Int($0) }.map { max($0, 0) },
            offset: max(request.query("offset").flatMap { Int($0) } ?? 0, 0), as: token)
        return .json(buckets.bytes())
    }
}

extension ServerResponse {
    /// The service's answer when something is done.
    static func message(_ text: String) -> ServerResponse { .json(JSON.object(["message": .string(text)]).bytes()) }
}

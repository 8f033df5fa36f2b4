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
        on(&router, .delete, "object/{bucket}/{name...}") { try await $0.delete($1) }
        on(&router, .post, "object/{bucket}/{name...}") { try await $0.upload($1, replaces: false) }
        on(&router, .put, "object/{bucket}/{name...}") { try await $0.upload($1, replaces: true) }
        on(&router, .get, "object/{bucket}/{name...}") { try await $0.download($1, .either) }
        addServiceRoutes(to: &router)
        for service in ["object", "bucket", "cdn", "render"] {
            on(&router, nil, service) { Failure.noRoute($1, isInShape: true) }
            on(&router, nil, "\(service)/{rest...}") { Failure.noRoute($1, isInShape: true) }
        }
        on(&router, nil, "{rest...}") { Failure.noRoute($1) }
    }

    /// What says how the service is, and what concerns the network in front of it.
    private func addServiceRoutes(to router: inout Router) {
        on(&router, .get, "status") { _, _ in ServerResponse() }
        on(&router, .get, "version") { _, _ in .text("0.0.0") }
        on(&router, .get, "health") { storage, _ in
            let isHealthy = (try? await storage.rows.database.run([PostgresStatement("select 1")])) != nil
            return .json(JSON.object(["healthy": .bool(isHealthy)]).bytes())
        }
        for route in ["cdn", "cdn/{rest...}"] {
            on(&router, .delete, route) { storage, request in
                try storage.checkServiceRole(of: try storage.caller(request))
                throw Failure(
                    400, "MissingParameter", "Missing Required Parameter CDN_PURGE_ENDPOINT_URL is not set")
            }
        }
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
        guard let text = bearer ?? access.keyAsToken(of: request) else {
            throw access.hasGateway
                ? .accessDenied("headers must have required property 'authorization': no JWT")
                : .invalidInput("headers must have required property 'authorization'")
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

    func checkServiceRole(of token: SupabaseToken) throws(Failure) {
        guard token.role == SupabaseToken.service.role else { throw .invalidRole }
    }

    // MARK: Bodies

    /// A body with its values as the schema means them.
    func body(_ request: ServerRequest, _ schema: RequestSchema) async throws(Failure) -> JSON {
        try schema.converted(try await json(request), as: "body")
    }

    /// A body in JSON, or `null` for any other.
    private func json(_ request: ServerRequest) async throws(Failure) -> JSON {
        let type = (request.headers["Content-Type"] ?? "").prefix { $0 != ";" }.lowercased()
        guard type == "application/json" else { return .null }
        let bytes: [UInt8]
        do throws(ServerError) { bytes = try await request.body.collect(upTo: 1 << 20) } catch { throw .broken }
        guard !bytes.isEmpty else { throw .emptyBody }
        guard let json = try? JSON(parsing: bytes) else { throw .unparsableBody }
        return json
    }

    /// Checks that a request says what its body is only if it has one: even where no body is needed, the vendor's service
    /// reads it first.
    func checkBody(of request: ServerRequest) async throws(Failure) { _ = try await json(request) }

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

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The data service: tables and functions of the database, with the caller's rights.
struct LocalREST: LocalSupabaseService {
    let database: SupabaseDatabase
    private let access: SupabaseAccess
    let maximumRows: Int
    /// The schemas that clients may access.
    let schemas: [String]
    private let allowsAggregates: Bool
    let functions = KnownFunctions()
    let knownRelations = KnownRelations()

    init(_ context: LocalSupabaseContext) {
        database = context.database
        access = context.access
        maximumRows = context.options.maximumRows
        schemas = context.options.schemas
        allowsAggregates = context.options.allowsAggregates
    }

    package func addRoutes(to router: inout Router) {
        for method in [HTTPMethod.get, .post] {
            router.on(method, "/rest/v1/rpc/{function}") { request in
                await answer(request) { call throws(RESTFailure) in try await callFunction(call) }
            }
        }
        for method in [HTTPMethod.get, .post, .patch, .put, .delete] {
            router.on(method, "/rest/v1/{table}") { request in
                await answer(request) { call throws(RESTFailure) in try await callTable(call) }
            }
        }
        router.on(.get, "/rest/v1/") { request in
            await admitted(request) { token throws(RESTFailure) in
                try await describe(RESTCall.schema(of: request, exposing: schemas), to: token.role)
            }
        }
        router.on(.options, "/rest/v1/{path...}") { _ in
            ServerResponse(
                headers: [
                    "Allow": "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE", "Access-Control-Allow-Origin": "*",
                ])
        }
        router.on(nil, "/rest/v1/{path...}") { _ in
            RESTFailure(404, "PGRST125", "Invalid path specified in request URL").response
        }
    }

    private func answer(
        _ request: ServerRequest, _ body: (RESTCall) async throws(RESTFailure) -> ServerResponse
    ) async -> ServerResponse {
        await admitted(request) { token throws(RESTFailure) in
            let call = try RESTCall(request, as: token, exposing: schemas)
            // Those over related rows are left to the vendor's service.
            let isRefused = !allowsAggregates || call.request.method != .get || call.request.parameters["table"] == nil
            if call.selection.embeddings.contains(where: { $0.selection.hasAggregates })
                || (call.selection.hasAggregates && isRefused)
            {
                throw RESTFailure(400, "PGRST123", "Use of aggregate functions is not allowed")
            }
            return try await body(call)
        }
    }

    private func admitted(
        _ request: ServerRequest, _ body: (SupabaseToken) async throws(RESTFailure) -> ServerResponse
    ) async -> ServerResponse {
        // A session's token alone does not pass the gateway.
        if SupabaseAccess.bearer(of: request) != nil {
            do throws(SupabaseAccess.MissingKey) { try access.checkKey(of: request) } catch { return error.response }
        }
        do throws(RESTFailure) { return try await body(try access.token(of: request)) } catch { return error.response }
    }

    /// Runs statements as the caller. The settings after the last of them go into the response.
    ///
    /// - Parameter check: A check to run first; its result is not returned.
    func run(
        _ statements: [PostgresStatement], _ call: RESTCall, readOnly: Bool, after check: PostgresStatement? = nil
    ) async throws(RESTFailure) -> [PostgresResult] {
        var settings = [
            (name: "request.method", value: call.request.method.rawValue),
            (name: "request.path", value: String(call.request.path.dropFirst("/rest/v1".count))),
            (name: "request.headers", value: Self.text(call.request.headers.map { ($0.name.lowercased(), $0.value) })),
            (name: "request.cookies", value: Self.text(Self.cookies(of: call.request))),
        ]
        if let zone = call.preferences.timeZone { settings.append((name: "timezone", value: zone)) }
        do throws(PostgresFailure) {
            let results = try await database.run(
                (check.map { [$0] } ?? []) + statements, as: call.token, readOnly: readOnly,
                schemas: RESTStatement.quoted(call.schema) + ", extensions", settings: settings)
            return check == nil ? results : Array(results.dropFirst())
        } catch {
            throw RESTFailure(refused: error) ?? RESTFailure(worded: error)
                ?? RESTFailure(error, isAnonymous: call.token.role == "anon")
        }
    }

    private static func text(_ pairs: [(String, String)]) -> String {
        var object: JSONObject = [:]
        for (name, value) in pairs { object[name] = .string(value) }
        return JSON.object(object).text()
    }

    private static func cookies(of request: ServerRequest) -> [(String, String)] {
        (request.headers["Cookie"] ?? "").split(separator: ";").compactMap { cookie in
            let parts = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
    }

    /// Looks up the database's catalogue with the server's own rights, to distinguish inaccessible names from missing ones.
    func lookUp(_ query: String, _ schema: String, _ name: String) async throws(RESTFailure) -> [[UInt8]] {
        // No name in the database contains a zero byte.
        guard !name.utf8.contains(0) else { return [] }
        do throws(PostgresFailure) {
            let found = try await database.run([PostgresStatement(query, [schema, name], isPrepared: true)])
            return found[0].rows.compactMap { $0.first.flatMap { $0 } }
        } catch {
            throw RESTFailure(error, isAnonymous: false)
        }
    }
}

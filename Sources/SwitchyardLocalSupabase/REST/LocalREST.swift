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
    private let timeZones = KnownTimeZones()

    init(_ context: LocalSupabaseContext) {
        database = context.database
        access = context.access
        maximumRows = context.options.maximumRows
        schemas = context.options.schemas
        allowsAggregates = context.options.allowsAggregates
    }

    package func addRoutes(to router: inout Router) {
        for method in [HTTPMethod.options, nil] {
            let isQuestion = method != nil
            router.on(method, "/rest/v1/") { request in
                isQuestion ? .methods("OPTIONS,GET,HEAD") : await root(request)
            }
            router.on(method, "/rest/v1/rpc/{function}") { request in
                await answer(request) { call throws(RESTFailure) in
                    isQuestion ? try await methods(ofFunction: call) : try await callFunction(call)
                }
            }
            router.on(method, "/rest/v1/{table}") { request in
                await answer(request) { call throws(RESTFailure) in
                    isQuestion ? try await methods(ofTable: call) : try await callTable(call)
                }
            }
        }
        router.on(nil, "/rest/v1/{path...}") { _ in RESTFailure.unknownPath.response }
    }

    private func root(_ request: ServerRequest) async -> ServerResponse {
        await admitted(request) { token throws(RESTFailure) in
            guard request.method == .get || request.method == .head else {
                throw .unsupportedMethod(request.method)
            }
            return try await describe(
                RESTCall.schema(of: request, exposing: schemas), to: token.role, request)
        }
    }

    private func answer(
        _ request: ServerRequest, _ body: (RESTCall) async throws(RESTFailure) -> ServerResponse
    ) async -> ServerResponse {
        await admitted(request) { token throws(RESTFailure) in
            // Without its last slash, the path of a folder would be that of a table.
            guard !request.rawPath.hasSuffix("/") else { throw .unknownPath }
            let call = try await settled(RESTCall(request, as: token, exposing: schemas))
            if call.selection.hasAggregates {
                // Those over related rows are left to the vendor's service.
                let isSupported = [.get, .head].contains(request.method) && request.parameters["table"] != nil
                let isNested = call.selection.embeddings.contains { $0.selection.hasAggregates }
                guard isSupported, !isNested, try await configuration().allowsAggregates ?? allowsAggregates else {
                    throw RESTFailure(400, "PGRST123", "Use of aggregate functions is not allowed")
                }
            }
            return try await body(call)
        }
    }

    /// The call with the preferences that count in this project.
    private func settled(_ call: RESTCall) async throws(RESTFailure) -> RESTCall {
        var call = call
        let allowsEnding = call.preferences.ending == nil ? false : try await configuration().allowsEnding
        var knowsTimeZone = true
        if let zone = call.preferences.timeZone {
            do throws(PostgresFailure) { knowsTimeZone = try await timeZones.contains(zone, in: database) } catch {
                throw RESTFailure(error, isAnonymous: false)
            }
        }
        try call.preferences.settle(allowsEnding: allowsEnding, knowsTimeZone: knowsTimeZone)
        return call
    }

    /// The call with the form of its result.
    func negotiated(_ call: RESTCall, handlers: [RESTMediaHandler]) async throws(RESTFailure) -> RESTCall {
        var call = call
        let accepted = call.accepted
        let allowsPlans = accepted.contains { $0.plan != nil } ? try await configuration().allowsPlans : false
        call.form = try RESTForm(
            accepted, handlers: handlers, isEverything: call.selection.isEverything, allowsPlans: allowsPlans)
        return call
    }

    /// What the project's owner has set; it counts at once.
    private func configuration() async throws(RESTFailure) -> RESTConfiguration {
        do throws(PostgresFailure) { return try await .read(from: database) } catch {
            throw RESTFailure(error, isAnonymous: false)
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
        // What would be refused at the end is refused before everything is taken back.
        let ending =
            call.preferences.ending == .rollback
            ? [PostgresStatement("set constraints all immediate"), PostgresStatement("rollback")] : []
        do throws(PostgresFailure) {
            let results = try await database.run(
                (check.map { [$0] } ?? []) + statements + ending, as: call.token, readOnly: readOnly,
                schemas: RESTStatement.quoted(call.schema) + ", extensions", settings: settings)
            return Array(results.dropFirst(check == nil ? 0 : 1).dropLast(ending.count))
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

import SwitchyardBytes
import SwitchyardWire

/// The data service: calls of functions in the database, in the name and with the rights of whoever asks.
struct LocalREST: LocalSupabaseService {
    private let database: SupabaseDatabase
    private let access: SupabaseAccess

    init(_ ground: LocalSupabaseGround) {
        database = ground.database
        access = ground.access
    }

    package func addRoutes(to router: inout Router) {
        router.on(.post, "/rest/v1/rpc/{function}") { await answer($0) }
        router.on(.get, "/rest/v1/rpc/{function}") { await answer($0) }
    }

    private func answer(_ request: ServerRequest) async -> ServerResponse {
        do throws(RESTFailure) {
            return try await call(request)
        } catch {
            return error.response
        }
    }

    // MARK: Functions

    private func call(_ request: ServerRequest) async throws(RESTFailure) -> ServerResponse {
        let token = try access.token(of: request)
        let name = request.parameters["function"] ?? ""
        let arguments = try await arguments(of: request)
        let function = try await signature(of: name, taking: Set(arguments.map(\.key)))
        let isRead = request.method != .post || function.isStable
        let results = try await run(
            [PostgresStatement(function.sql(calledWith: arguments), [JSON.object(arguments).text()])], as: token,
            readOnly: isRead)
        guard !function.isVoid else { return ServerResponse(status: 204) }
        return .json(Array((results[0].text ?? "null").utf8))
    }

    private func arguments(of request: ServerRequest) async throws(RESTFailure) -> JSONObject {
        guard request.method == .post else {
            return JSONObject(request.queryItems.map { (key: $0.name, value: .string($0.value)) })
        }
        do {
            let bytes = try await request.body.collect()
            if bytes.isEmpty { return [:] }
            if let object = try JSON(parsing: bytes).object { return object }
        } catch is ServerError {
            throw RESTFailure(400, "PGRST102", "The body did not arrive")
        } catch {}
        throw RESTFailure(400, "PGRST102", "Empty or invalid json")
    }

    /// What the database knows of a function with exactly these arguments, those with defaults aside.
    private func signature(
        of name: String, taking arguments: Set<String>
    ) async throws(RESTFailure) -> FunctionSignature {
        let found: [PostgresResult]
        do throws(PostgresFailure) {
            found = try await database.run([PostgresStatement(FunctionSignature.query, [name])])
        } catch {
            throw RESTFailure(error, isAnonymous: false)
        }
        let candidates = found[0].rows.compactMap { FunctionSignature($0.first.flatMap { $0 } ?? []) }
        guard let function = candidates.first(where: { $0.accepts(arguments) }) else {
            let list = arguments.sorted().joined(separator: ", ")
            throw RESTFailure(
                404, "PGRST202", "Could not find the function public.\(name)(\(list)) in the schema cache")
        }
        return function
    }

    /// Runs statements as the role and with the claims of a token, as one transaction; the last results are theirs.
    private func run(
        _ statements: [PostgresStatement], as token: SupabaseToken, readOnly: Bool
    ) async throws(RESTFailure) -> [PostgresResult] {
        do throws(PostgresFailure) {
            return try await database.run(statements, as: token, readOnly: readOnly)
        } catch {
            throw RESTFailure(error, isAnonymous: token.role == "anon")
        }
    }
}

/// A function of the database, as far as a call needs to know it.
private struct FunctionSignature: Sendable {
    static let query = """
        select json_build_object('name', p.proname, 'isSet', p.proretset, 'isVoid', p.prorettype = 'void'::regtype,
          'isStable', p.provolatile <> 'v', 'required', p.pronargs - p.pronargdefaults,
          'arguments', coalesce((select json_agg(json_build_array(p.proargnames[n], format_type(t, null)) order by n)
                                 from unnest(p.proargtypes) with ordinality as a(t, n)), '[]'))
        from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = $1 and p.prokind = 'f'
        """

    private let name: String
    private let arguments: [(name: String, type: String)]
    private let required: Int
    private let isSet: Bool
    let isVoid: Bool
    let isStable: Bool

    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes), let name = json["name"]?.string else { return nil }
        self.name = name
        arguments = (json["arguments"]?.array ?? []).compactMap { argument in
            guard let name = argument[0]?.string, let type = argument[1]?.string else { return nil }
            return (name, type)
        }
        required = json["required"]?.int64.map { Int($0) } ?? 0
        isSet = json["isSet"]?.bool ?? false
        isVoid = json["isVoid"]?.bool ?? false
        isStable = json["isStable"]?.bool ?? false
    }

    func accepts(_ given: Set<String>) -> Bool {
        given.isSubset(of: Set(arguments.map(\.name)))
            && Set(arguments.prefix(required).map(\.name)).isSubset(of: given)
    }

    /// The call, with all arguments in one JSON object as its only parameter.
    func sql(calledWith given: JSONObject) -> String {
        let used = arguments.filter { given[$0.name] != nil }
        let call =
            "public.\(quoted(name))("
            + used.map { "\(quoted($0.name)) => a.\(quoted($0.name))" }
            .joined(separator: ", ") + ")"
        let source =
            used.isEmpty
            ? ""
            : "json_to_record($1::json) as a("
                + used.map { "\(quoted($0.name)) \($0.type)" }.joined(separator: ", ") + "), "
        let guardParameter = used.isEmpty ? " where $1::json is not null" : ""
        return isSet
            ? "select coalesce(json_agg(r), '[]') from \(source)lateral \(call) r\(guardParameter)"
            : "select to_json(r) from \(source)lateral \(call) r\(guardParameter)"
    }

    private func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The auth service: accounts in the schema `auth`, sessions with rotating tokens, and unsent emails.
///
/// Each call is one transaction, no two run at once, and changes are committed before the call is answered.
struct LocalSupabaseAuth: LocalSupabaseService {
    let context: LocalSupabaseContext
    let outbox: AuthOutbox
    /// Seals and opens values that pass through a browser.
    let seal: ServerSigningKey

    typealias Handler = @Sendable (SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse

    init(_ context: LocalSupabaseContext) {
        self.context = context
        outbox = AuthOutbox(context.sent) { context.now }
        seal = ServerSigningKey(key: context.access.secret)
    }

    var options: LocalSupabaseOptions.Auth { context.options.auth }
    package var schema: String { String(decoding: PackageResources.auth_sql, as: UTF8.self) }

    /// This service's URL, which is the issuer of its tokens.
    var address: String { context.url + "/auth/v1" }

    // MARK: Calls

    /// Runs a call and makes its response.
    ///
    /// - Parameter isOpen: Whether the call is reached through a link, without the project's key.
    func answer(_ request: ServerRequest, isOpen: Bool = false, _ handler: Handler) async -> ServerResponse {
        if !isOpen {
            do throws(SupabaseAccess.MissingKey) { try context.access.checkKey(of: request) } catch {
                return error.response
            }
        }
        do throws(AuthRefusal) {
            let fields = try await LocalSupabaseAuth.fields(of: request)
            do throws(AuthRefusal) {
                return try await answer(request, fields, handler)
            } catch {
                // Whoever was faster is there now, so most calls are answered like any about a known account.
                guard error.isRace else { throw error }
                return try await answer(request, fields, handler)
            }
        } catch {
            return error.response(for: request.headers["X-Supabase-Api-Version"])
        }
    }

    private func answer(
        _ request: ServerRequest, _ fields: JSONObject, _ handler: Handler
    ) async throws(AuthRefusal) -> ServerResponse {
        let transaction: AuthTransaction
        do throws(PostgresFailure) {
            transaction = try await AuthTransaction.begin(on: context.database.own, at: context.now)
        } catch {
            throw AuthRefusal(error)
        }
        do throws(AuthRefusal) {
            let answer = try await handler(
                SupabaseAuthCall(request: request, fields: fields, tables: transaction.tables))
            try await transaction.end(keepingChanges: true)
            return answer
        } catch {
            try? await transaction.end(keepingChanges: error.keepsChanges)
            throw error
        }
    }

    static func ok(_ json: JSONObject, status: Int = 200) -> ServerResponse {
        .json(JSON.object(json).bytes(), status: status)
    }

    private static func fields(of request: ServerRequest) async throws(AuthRefusal) -> JSONObject {
        let bytes: [UInt8]
        do throws(ServerError) { bytes = try await request.body.collect(upTo: 1 << 20) } catch {
            throw AuthRefusal(413, "request_entity_too_large", "Request body exceeds 1 MiB")
        }
        guard !bytes.isEmpty else {
            if request.method == .post || request.method == .put, request.path.hasSuffix("/signup") { throw .badJSON }
            return [:]
        }
        guard let object = (try? JSON(parsing: bytes))?.object else { throw .badJSON }
        return object
    }
}

/// One transaction of the service. All transactions, including those of other servers on the database, run one at a time.
private struct AuthTransaction: Sendable {
    let tables: AuthTables
    private let pool: PostgresPool

    static func begin(on pool: PostgresPool, at now: Timestamp) async throws(PostgresFailure) -> AuthTransaction {
        let connection = try await pool.take()
        do throws(PostgresFailure) {
            _ = try await connection.run(script: "begin; select pg_advisory_xact_lock(73310927)")
        } catch {
            connection.close()
            await pool.giveBack(connection)
            throw error
        }
        return AuthTransaction(tables: AuthTables(connection: connection, now: now), pool: pool)
    }

    func end(keepingChanges: Bool) async throws(AuthRefusal) {
        do throws(PostgresFailure) {
            _ = try await tables.connection.run(script: keepingChanges ? "commit" : "rollback")
            await pool.giveBack(tables.connection)
        } catch {
            tables.connection.close()
            await pool.giveBack(tables.connection)
            throw AuthRefusal(error)
        }
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardSupabase

/// An administrator's client over a script.
struct SupabaseAdminBed {
    static let id = "6f2b9ee6-8f0e-4c3f-9d6b-5b6f5a1d0c11"
    static let user = "/admin/users/\(id)"

    let transport: ScriptedTransport
    let client: SupabaseAdminClient

    init(key: Secret = "sb_secret_key", _ script: ScriptedExchange...) {
        transport = ScriptedTransport(script)
        client = SupabaseAdminClient(
            SupabaseAuthService(
                address: SupabaseAuthBed.address, apiKey: key, transport: transport, clock: ContinuousClock(),
                now: { Timestamp(microseconds: 1_800_000_000_000_000) }))
    }

    func body(_ index: Int) -> JSON { (try? JSON(parsing: transport.requests[index].body)) ?? .null }

    func code<Value>(_ body: (SupabaseAdminClient) async throws(AuthError) -> Value) async -> AuthError.Code? {
        do throws(AuthError) {
            _ = try await body(client)
            return nil
        } catch {
            return error.code
        }
    }

    static func on(
        _ method: HTTPMethod, _ path: String, _ answer: String = "{}", status: Int = 200
    ) -> ScriptedExchange { SupabaseAuthBed.on(method, path, answer, status: status) }

    static func refusal(
        _ method: HTTPMethod, _ path: String, _ code: String, status: Int
    ) -> ScriptedExchange { SupabaseAuthBed.refusal(method, path, code, status: status) }

    static func list(_ users: String..., filter: String) -> ScriptedExchange {
        on(
            .get, "/admin/users?page=1&per_page=101&sort=created_at%20asc&filter=\(filter)",
            #"{"users":[\#(users.joined(separator: ","))],"aud":"authenticated"}"#)
    }

    static func account(_ id: String = id, _ more: String = "") -> String { SupabaseAuthBed.user(id, more) }
}

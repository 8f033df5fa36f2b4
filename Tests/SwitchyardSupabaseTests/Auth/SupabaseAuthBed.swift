import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardSupabase

/// A client against a script of exchanges, at a time that the test sets.
final class SupabaseAuthBed: Sendable {
    let transport: ScriptedTransport
    let client: SupabaseAuthAdapter
    private let seconds: SettableSeconds
    static let address = "https://demo.supabase.co/auth/v1"

    final class SettableSeconds: Sendable {
        private let box = Mutex<Int64>(1_800_000_000)
        var value: Int64 {
            get { box.withLock { $0 } }
            set { box.withLock { $0 = newValue } }
        }
    }

    init(
        _ script: ScriptedExchange..., address: String = SupabaseAuthBed.address,
        clock: any Clock<Duration> = ContinuousClock(), store: any SessionStore = MemorySessionStore(),
        deletion: SupabaseAuthAdapter.AccountDeletion? = nil
    ) {
        let seconds = SettableSeconds()
        self.seconds = seconds
        transport = ScriptedTransport(script)
        client = SupabaseAuthAdapter(
            address: address, apiKey: "sb_publishable_key", transport: transport, store: store,
            context: ModuleContext(clock: clock, now: { Timestamp(microseconds: seconds.value * 1_000_000) }),
            deletion: deletion)
    }

    var now: Int64 {
        get { seconds.value }
        set { seconds.value = newValue }
    }

    func body(_ index: Int) -> JSON { (try? JSON(parsing: transport.requests[index].body)) ?? .null }
    func bearer(_ index: Int) -> String? { transport.requests[index].request.headers["Authorization"] }

    func code<Answer>(_ body: () async throws(AuthError) -> Answer) async -> AuthError.Code? {
        do throws(AuthError) {
            _ = try await body()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: What a server says

    static func on(
        _ method: HTTPMethod, _ path: String, _ answer: String = "{}", status: Int = 200, headers: HTTPHeaders = [:]
    ) -> ScriptedExchange { .on(method, address + path, .json(answer, status: status, headers: headers)) }

    /// In the current format of errors.
    static func refusal(_ method: HTTPMethod, _ path: String, _ code: String, status: Int = 400) -> ScriptedExchange {
        on(method, path, #"{"code":"\#(code)","message":"text of the server"}"#, status: status)
    }

    static func accessToken(_ name: String = "first", aal: String = "aal1") -> String {
        let claims: JSON = ["sub": "alice", "exp": 1_800_003_600, "aal": .string(aal), "jti": .string(name)]
        return "e30." + Base64.encode(claims.bytes(), alphabet: .url) + ".c2ln"
    }

    static func user(_ id: String = "alice", _ more: String = "") -> String {
        #"{"id":"\#(id)","aud":"authenticated","role":"authenticated","email":"\#(id)@example.com","phone":"","email_confirmed_at":"2026-01-01T00:00:00.123456789Z","created_at":"2026-01-01T00:00:00Z","identities":[{"identity_id":"i1","id":"x","provider":"email"}],"is_anonymous":false,"user_metadata":{}\#(more)}"#
    }

    static func session(_ name: String = "first", user: String = user(), aal: String = "aal1") -> String {
        #"{"access_token":"\#(accessToken(name, aal: aal))","token_type":"bearer","expires_in":3600,"expires_at":1,"refresh_token":"refresh-\#(name)","user":\#(user)}"#
    }

    static func refreshed(_ name: String) -> ScriptedExchange {
        on(.post, "/token?grant_type=refresh_token", session(name))
    }

    static func signedIn(_ script: ScriptedExchange..., clock: any Clock<Duration> = ContinuousClock()) async throws
        -> SupabaseAuthBed
    {
        let bed = SupabaseAuthBed(clock: clock)
        bed.transport.expect(on(.post, "/token?grant_type=password", session()))
        try await bed.client.signIn(email: "alice@example.com", password: "secret")
        for exchange in script { bed.transport.expect(exchange) }
        return bed
    }
}

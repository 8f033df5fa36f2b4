import Switchyard
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// A project whose services are there but cannot answer for a while: what is asked again, and what is said in the end.
@Suite struct PassingTroubleTests {
    private typealias Bed = SupabaseAuthBed

    @Test(arguments: [
        ("<html>Bad Gateway</html>", 502), (#"{"message":"no upstream"}"#, 503),
        (#"{"code":"57P03","message":"the database system is starting up"}"#, 500),
    ])
    func `Signing in outlasts a service without its database`(_ body: String, _ status: Int) async throws {
        let bed = SupabaseAuthBed(clock: BriefClock())
        for _ in 0..<3 {
            bed.transport.expect(Bed.on(.post, "/token?grant_type=password", body, status: status))
        }
        bed.transport.expect(Bed.on(.post, "/token?grant_type=password", Bed.session()))
        #expect(try await bed.client.signIn(email: "alice@example.com", password: "secret").id == "alice")
        try bed.transport.verify()
    }

    @Test(arguments: [("{}", 504), ("", 500), (#"{"code":"57P01","message":"x"}"#, 500)])
    func `What may have been carried out is not asked again`(_ body: String, _ status: Int) async throws {
        let bed = SupabaseAuthBed(clock: BriefClock())
        bed.transport.expect(Bed.on(.post, "/token?grant_type=password", body, status: status))
        await #expect(throws: AuthError.self) {
            try await bed.client.signIn(email: "alice@example.com", password: "secret")
        }
        try bed.transport.verify()
    }

    private static func count(_ replies: ScriptedReply...) async throws -> Result<Int, StorageError> {
        let transport = ScriptedTransport(
            replies.map { .on(.post, "https://demo.supabase.co/rest/v1/rpc/switchyard_aggregate", $0) })
        let service = PostgRESTService(
            project: try SupabaseProject("https://demo.supabase.co"), tokens: SupabaseTokens(key: "key", auth: nil),
            transport: transport, clock: ImpatientClock())
        let client = SyncedStorageClient(driver: SupabaseDriver(service: service))
        let result: Result<Int, StorageError>
        do throws(StorageError) { result = .success(try await client.count(Query(in: "rooms"))) } catch {
            result = .failure(error)
        }
        await client.shutDown()
        return result
    }

    private static let lost = #"{"code":"","details":null,"hint":null,"message":""}"#
    private static let retrying = #"{"code":"PGRST002","details":null,"hint":null,"message":"Retrying."}"#

    @Test func `Counting outlasts each of a lost database's answers`() async throws {
        let count = try await Self.count(
            .json(Self.lost, status: 400), .json(Self.retrying, status: 503), .text("<html>", status: 502),
            .failure(TransportError(.connectionLost, "the connection was lost", isRetryable: true)),
            .json(#"{"code":"57P01","details":null,"hint":null,"message":"terminating"}"#, status: 500),
            .json("[3]"))
        #expect(try count.get() == 3)
    }

    @Test func `The pause that the server asks for is observed, and not longer than the call's patience`() async throws
    {
        let long = try await Self.count(.json(Self.retrying, status: 503, headers: ["Retry-After": "60"]), .json("[3]"))
        guard case .failure(let error) = long else {
            Issue.record("it waited for a minute")
            return
        }
        #expect(error.retryAfter == .seconds(60))
        let short = try await Self.count(.json(Self.retrying, status: 503, headers: ["Retry-After": "2"]), .json("[3]"))
        #expect(try short.get() == 3)
    }

    @Test(arguments: [
        (lost, 400, "The data service at “https://demo.supabase.co” cannot reach its database (HTTP 400)."),
        (retrying, 503, "The data service at “https://demo.supabase.co” cannot reach its database (HTTP 503)."),
        ("<html>", 502, "The gateway at “https://demo.supabase.co” cannot reach the data service (HTTP 502)."),
    ])
    func `What is left names the database, and not the address`(_ body: String, _ status: Int, _ text: String) {
        let failure = PostgRESTFailure(status: status, body: Array(body.utf8))
        let error = StorageError(
            failure, asked: SupabaseTokens.RequestCredentials(key: "key", user: nil), issuer: nil,
            at: "https://demo.supabase.co")
        #expect(error.message.hasPrefix(text), "\(error.message)")
        #expect(error.code == .unavailable && error.isRetryable && !error.isRefusal)
    }
}

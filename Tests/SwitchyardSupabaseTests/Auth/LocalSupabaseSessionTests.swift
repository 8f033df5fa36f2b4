import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Sessions of the provider on a local Supabase, whose answers get lost and whose accounts end.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalSupabaseSessionTests {
    private struct Bed: Sendable {
        let clock = MovedClock()
        let supabase: LocalSupabase
        var module: SupabaseModule {
            SupabaseModule(
                SupabaseConfiguration(
                    url: supabase.server.url, key: Secret(supabase.anonKey), checkInterval: .milliseconds(25)))
        }

        init() async throws {
            var options = LocalSupabaseOptions()
            options.now = { [clock] in clock.now }
            supabase = try await LocalSupabase.onSharedPostgres(options)
        }

        func client(_ name: String) async throws -> any AuthClient {
            let client = try await module.makeAuthClient(ModuleContext(now: { [clock] in clock.now }))
            try await client.signUp(email: "\(name)@example.com", password: "secret")
            return client
        }

        func count(_ table: String) async throws -> String? {
            try await supabase.database.run([PostgresStatement("select count(*) from \(table)")])[0].text
        }
    }

    private static func withBed(_ body: (Bed) async throws -> Void) async throws {
        let bed = try await Bed()
        do {
            try await body(bed)
        } catch {
            await bed.supabase.stop()
            throw error
        }
        await bed.supabase.stop()
    }

    private static let isRefresh: FaultSwitches.Condition = {
        $0.path == "/auth/v1/token" && $0.query("grant_type") == "refresh_token"
    }

    @Test func `However many answers to refreshes are lost, the session stays, and its tokens are taken`() async throws
    {
        try await Self.withBed { bed in
            let client = try await bed.client("ann")
            var losses = 0
            for round in 0..<30 {
                if round % 3 != 2 {
                    bed.supabase.faults.add(.dropAnswer(reset: round % 2 == 0), when: Self.isRefresh)
                    losses += 1
                }
                // Another minute: nothing here is forgiven because it was only just now.
                bed.clock.advance(60)
                _ = try? await client.accessToken(refreshing: true)
            }
            #expect(losses == 20)
            bed.supabase.faults.removeAll()
            _ = try await client.accessToken(refreshing: true)
            #expect(await client.state.isSignedIn)
            // The server takes the token for that session, which is the only one.
            try await client.updateAccount(AccountChanges(displayName: "Ann"))
            #expect(try await bed.count("auth.sessions") == "1")
            await client.shutDown()
        }
    }

    @Test(arguments: [SignOutScope.local, .everywhere], [Int64(0), 4000])
    func `Signing out ends the server's session, also when its access token has run out`(
        _ scope: SignOutScope, _ seconds: Int64
    ) async throws {
        try await Self.withBed { bed in
            let client = try await bed.client("ann")
            #expect(try await bed.count("auth.sessions") == "1")
            bed.clock.advance(seconds)
            try await client.signOut(scope)
            #expect(try await bed.count("auth.sessions") == "0")
            await client.shutDown()
        }
    }

    @Test func `Many who need a token when it has run out cost one refresh`() async throws {
        try await Self.withBed { bed in
            let client = try await bed.client("ann")
            bed.clock.advance(3600)
            let before = try await bed.count("auth.refresh_tokens")
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<10 { group.addTask { try await client.accessToken() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(tokens.map(\.value)).count == 1)
            #expect(before == "1")
            #expect(try await bed.count("auth.refresh_tokens") == "2")
            await client.shutDown()
        }
    }

    @Test func `A stolen refresh token ends the session, for the thief and for the owner, who is notified`()
        async throws
    {
        try await Self.withBed { bed in
            let client = try await bed.client("ann")
            let stolen = try await bed.supabase.database.run([
                PostgresStatement("select token from auth.refresh_tokens")
            ])[0].text
            for _ in 0..<2 { _ = try await client.accessToken(refreshing: true) }
            bed.clock.advance(60)
            let thief = SupabaseAuthService(
                address: bed.supabase.server.url + "/auth/v1", apiKey: Secret(bed.supabase.anonKey),
                transport: CurlTransport(), clock: ContinuousClock(), now: { [clock = bed.clock] in clock.now })
            let refused = await #expect(throws: SupabaseAuthFailure.self) {
                () async throws -> Void in
                _ = try await thief.token("refresh_token", ["refresh_token": .string(stolen ?? "")])
            }
            #expect(refused?.code == "refresh_token_already_used")
            await thief.transport.shutDown()
            let error = await #expect(throws: AuthError.self) {
                () async throws -> Void in _ = try await client.accessToken(refreshing: true)
            }
            #expect(error?.code == .sessionExpired)
            #expect(await !client.state.isSignedIn)
            await client.shutDown()
        }
    }

    @Test func `People with accounts of the project see their own documents and no one else's`() async throws {
        try await Self.withBed { bed in
            let connection = try await bed.supabase.database.connect()
            try await connection.run(script: DocumentSchema.sql)
            connection.close()
            let (ann, ben) = (try await bed.client("ann"), try await bed.client("ben"))
            let hers = try await bed.module.makeStorageClient(ModuleContext(auth: ann))
            let his = try await bed.module.makeStorageClient(ModuleContext(auth: ben))
            _ = try await hers.setDocument("notes/n1", ["text": "mine"]).acknowledged()
            #expect(try await hers.document("notes/n1", from: .server).data?["text"] == "mine")
            #expect(try await !his.document("notes/n1", from: .server).exists)
            let error = await #expect(throws: StorageError.self) {
                () async throws -> Void in _ = try await his.setDocument("notes/n1", ["text": "x"]).acknowledged()
            }
            #expect(error?.code == .unauthorized)
            // The token has run out for the data service; the next one is asked for on the way.
            bed.clock.advance(4000)
            #expect(try await hers.document("notes/n1", from: .server).data?["text"] == "mine")
            for client in [hers, his] { await client.shutDown() }
            for client in [ann, ben] { await client.shutDown() }
        }
    }
}

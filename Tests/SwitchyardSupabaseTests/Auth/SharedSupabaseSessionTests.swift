import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardProviderKit
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Two real processes on one session file, while a local Supabase rotates the tokens of it: a refresh token that is used a
/// second time too late ends the session for both.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SharedSupabaseSessionTests {
    struct Vendor: SessionVendor {
        static let refreshMark = "grant_type=refresh_token"
        let url: String
        let key: String

        init(_ supabase: LocalSupabase) { (url, key) = (supabase.server.url, supabase.anonKey) }

        func client(_ context: ModuleContext, over transport: any Transport) throws -> any AuthClient {
            let module = SupabaseModule(SupabaseConfiguration(url: url, key: Secret(key))) { transport }
            return try SupabaseAuthAdapter(module.clientContext(context), deletion: nil)
        }
    }

    private static func session(on supabase: LocalSupabase) throws -> SharedSession<Vendor> {
        try SharedSession(Vendor(supabase)) { process, isKilled in
            await #expect(processExitsWith: isKilled ? .signal(SIGKILL) : .success) {
                [process = process as SessionProcess<Vendor>] in
                await process.run()
            }
        }
    }

    /// Ann, who signs up here, beside a process that will refresh her session until it is told to stop.
    private static func signedUp(
        on supabase: LocalSupabase
    ) async throws -> (
        shared: SharedSession<Vendor>, other: SessionProcess<Vendor>, here: any AuthClient, user: AuthUser
    ) {
        let shared = try session(on: supabase)
        let other = shared.process(.refreshUntilStopped)
        let here = try other.client()
        return (shared, other, here, try await here.signUp(email: "ann@example.com", password: "secret").get())
    }

    private static func withSupabase(
        _ clock: MovedClock = MovedClock(), _ body: (LocalSupabase) async throws -> Void
    ) async throws {
        var options = LocalSupabaseOptions()
        options.now = { clock.now }
        let supabase = try await LocalSupabase.onSharedPostgres(options)
        do {
            try await body(supabase)
        } catch {
            await supabase.stop()
            throw error
        }
        await supabase.stop()
    }

    private static func count(_ table: String, _ supabase: LocalSupabase) async throws -> String? {
        try await supabase.database.run([PostgresStatement("select count(*) from \(table)")])[0].text
    }

    private static let isRefresh: FaultSwitches.Condition = {
        $0.path == "/auth/v1/token" && $0.query("grant_type") == "refresh_token"
    }

    // MARK: As with any vendor

    @Test func `Two processes whose token has run out cost one refresh`() async throws {
        try await Self.withSupabase { supabase in
            let seen = try await Self.session(on: supabase).needTokenAtOnce()
            #expect(seen.other == [["token", seen.here.userID, String(seen.here.value.reveal().suffix(40))]])
            #expect(seen.refreshes == 1)
            #expect(try await Self.count("auth.refresh_tokens", supabase) == "2")
        }
    }

    @Test func `A sign-out while another process refreshes is final in both, and on the server`() async throws {
        try await Self.withSupabase { supabase in
            for round in 0..<4 {
                let seen = try await Self.session(on: supabase).signOutWhileRefreshing(round)
                #expect(seen.other.last == ["out"], "\(seen.other.suffix(3))")
                #expect(seen.here == .signedOut(SignOut(.byUser)))
                #expect(!seen.later.isSignedIn, "nothing in the file brings it back")
                #expect(try await Self.count("auth.sessions", supabase) == "0")
            }
        }
    }

    @Test func `Whoever signs in takes the place of others in both processes, whatever is refreshed meanwhile`()
        async throws
    {
        try await Self.withSupabase { supabase in
            let seen = try await Self.session(on: supabase).signInWhileRefreshing(8)
            #expect(seen.other.last == ["out"], "\(seen.other.suffix(3))")
            #expect(seen.tokens.map(\.user) == seen.tokens.map(\.user).sorted(), "no one comes back")
            #expect(
                seen.tokens.allSatisfy { $0.user >= $0.before }, "who asks after a sign-in gets the new user's token")
        }
    }

    // MARK: Tokens that are good once

    @Test func `Two processes that both refresh, again and again and while answers get lost, keep the session`()
        async throws
    {
        let clock = MovedClock()
        try await Self.withSupabase(clock) { supabase in
            let (shared, other, here, user) = try await Self.signedUp(on: supabase)
            shared.start(other)
            try await eventually("it refreshes") { !other.reports(of: "token").isEmpty }
            for round in 0..<40 {
                if round % 4 == 3 { supabase.faults.add(.dropAnswer(reset: round % 8 == 3), when: Self.isRefresh) }
                let before = other.reports.count
                _ = try? await here.accessToken(refreshing: true)
                // Nothing is forgiven because it was only just now.
                clock.advance(60)
                try await eventually("the other has had a turn") { other.reports.count > before }
            }
            supabase.faults.removeAll()
            try Data().write(to: other.goFile)
            await shared.ended()
            #expect(other.reports.last == ["done", "true"], "\(other.reports.suffix(3))")
            #expect(other.reports(of: "token").allSatisfy { $0[1] == user.id })
            #expect(try await here.accessToken(refreshing: true).userID == user.id)
            #expect(await here.state.isSignedIn)
            #expect(try await Self.count("auth.sessions", supabase) == "1")
            await here.shutDown()
        }
    }

    @Test func `Two who ask for new tokens at the same moment get the same ones, from one refresh`() async throws {
        try await Self.withSupabase { supabase in
            let shared = try Self.session(on: supabase)
            let other = shared.process(.refreshUntilStopped)
            let transport = CountingTransport(CurlTransport(), counting: Vendor.refreshMark)
            let here = try other.client(over: transport)
            try await here.signUp(email: "ann@example.com", password: "secret")
            let gate = Gate()
            supabase.faults.add(.holdAnswer(gate), when: Self.isRefresh)
            shared.start(other)
            try await eventually("the other's refresh is under way") { gate.waiting == 1 }
            let wanted = Task { try await here.accessToken(refreshing: true) }
            let engine = try #require(here as? SupabaseAuthAdapter).engine
            try await eventually("this one waits for its turn") { await engine.waiterCount == 1 }
            try Data().write(to: other.goFile)
            gate.open()
            _ = try await wanted.value
            await shared.ended()
            #expect(transport.count == 0 && other.reports(of: "token").count == 1, "\(other.reports)")
            #expect(try await Self.count("auth.refresh_tokens", supabase) == "2")
            await here.shutDown()
        }
    }

    @Test func `A process that is killed between the server's answer and its file does not cost the session`()
        async throws
    {
        let clock = MovedClock()
        try await Self.withSupabase(clock) { supabase in
            let (shared, other, here, user) = try await Self.signedUp(on: supabase)
            for round in 0..<3 {
                let gate = Gate()
                let rule = supabase.faults.add(.holdAnswer(gate), when: Self.isRefresh)
                shared.start(other, isKilled: true)
                try await eventually("the server has given new tokens out") { gate.waiting == 1 }
                let process = try #require(other.reports(of: "ready").last?.last.flatMap { pid_t($0) })
                kill(process, SIGKILL)
                await shared.ended()
                supabase.faults.remove(rule)
                gate.open()
                clock.advance(60)
                // The token in the file was used already; the server takes it once more.
                #expect(try await here.accessToken(refreshing: true).userID == user.id)
                #expect(try await Self.count("auth.refresh_tokens", supabase) == "\(round + 2)")
            }
            #expect(await here.state.isSignedIn)
            await here.shutDown()
        }
    }
}

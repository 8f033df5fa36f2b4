import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// A database whose clock is behind that of the auth server, which issues the tokens.
@Suite struct PrematureTokenTests {
    /// A session that a test renews, and a data service that takes some of its tokens.
    private final class Bed: Sendable {
        private struct State {
            var current = 1
            var accepted: Set<Int> = [1]
            /// The refusal after which the current token is accepted.
            var patience = Int.max
            var refusals = 0
            var renewals = 0
        }

        private let state = Mutex(State())
        private let lifetime: Int64

        init(lifetime: Int64 = 3600) { self.lifetime = lifetime }

        func renew(goodAfter refusals: Int = .max) {
            state.withLock { state in
                state.current += 1
                state.patience = refusals
            }
        }

        var refusals: Int { state.withLock(\.refusals) }
        var renewals: Int { state.withLock(\.renewals) }

        private static func text(_ number: Int) -> String {
            FixedAuthClient.token(["sub": "alice", "role": "authenticated", "jti": .integer(Int64(number))])
        }

        func service() throws -> PostgRESTService {
            let tokens = SupabaseTokens(key: "key", issuer: .supabase) { [self] isRefused throws(AuthError) in
                let number = state.withLock { state in
                    if isRefused { (state.renewals, state.current) = (state.renewals + 1, state.current + 1) }
                    return state.current
                }
                return AccessToken(
                    value: Secret(Self.text(number)),
                    expiresAt: Timestamp(clampingSeconds: 1000 + lifetime, nanoseconds: 0), userID: "alice")
            }
            let transport = AnsweringTransport { [self] request in
                let isGood = state.withLock { state in
                    let isGood = state.accepted.contains {
                        request.headers["Authorization"] == "Bearer \(Self.text($0))"
                    }
                    if !isGood { state.refusals += 1 }
                    if state.refusals >= state.patience { state.accepted.insert(state.current) }
                    return isGood
                }
                if isGood { return .text("[]") }
                return .text(
                    #"{"code":"PGRST303","message":"JWT issued at future","details":null,"hint":null}"#, status: 401)
            }
            return PostgRESTService(
                project: try SupabaseProject("https://demo.supabase.co"), tokens: tokens, transport: transport,
                clock: ImpatientClock(), now: { Timestamp(clampingSeconds: 1000, nanoseconds: 0) })
        }
    }

    @Test func `The previous token is used while the new one is from the future, and no other is asked for`()
        async throws
    {
        let bed = Bed()
        let service = try bed.service()
        #expect(await failure(of: service) == nil)
        bed.renew()
        for _ in 0..<5 { #expect(await failure(of: service) == nil) }
        #expect(bed.renewals == 0)
        #expect(bed.refusals == 1, "the new one is not tried with every call")
    }

    @Test func `Without a previous token the same one is tried again until the database's clock is there`() async throws
    {
        let bed = Bed()
        let service = try bed.service()
        bed.renew(goodAfter: 4)
        #expect(await failure(of: service) == nil)
        #expect((bed.refusals, bed.renewals) == (4, 0))
    }

    @Test func `A previous token that expires at any moment is not used`() async throws {
        let bed = Bed(lifetime: 5)
        let service = try bed.service()
        #expect(await failure(of: service) == nil)
        bed.renew(goodAfter: 2)
        #expect(await failure(of: service) == nil)
        #expect((bed.refusals, bed.renewals) == (2, 0))
    }

    @Test func `A clock that stays behind is an error that names both clocks, after a while`() async throws {
        let bed = Bed()
        let service = try bed.service()
        bed.renew()
        let error = try #require(await failure(of: service))
        #expect(error.code == .unavailable && error.isRetryable)
        #expect(error.message.contains("its clock is behind that of the auth server. Synchronise the clocks of both."))
        #expect(error.message.contains("JWT issued at future"))
        #expect((bed.refusals, bed.renewals) == (7, 0))
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Tokens of one provider for the session at another.
@Suite struct TokenExchangeTests {
    private final class Exchanges: Sendable {
        private let box = Mutex((sessions: [String](), seconds: Int64(0), failure: (any Error)?.none))

        var sessions: [String] { box.withLock(\.sessions) }
        var now: Timestamp { Timestamp(clampingSeconds: box.withLock(\.seconds), nanoseconds: 0) }
        func pass(_ seconds: Int64) { box.withLock { $0.seconds += seconds } }
        func fail(with error: (any Error)?) { box.withLock { $0.failure = error } }

        /// Tokens that are good for an hour and say whose they are and the how manieth.
        var exchange: TokenExchange {
            TokenExchange { [self] session, issuer in
                try box.withLock { box in
                    if let failure = box.failure { throw failure }
                    box.sessions.append("\(issuer) \(session.value.reveal())")
                    let claims: [String: String] = [
                        "sub": session.userID, "role": "authenticated", "n": "\(box.sessions.count)",
                    ]
                    return (
                        Secret(FixedAuthClient.token(.object(.init(claims.map { ($0.key, .string($0.value)) })))),
                        Timestamp(clampingSeconds: box.seconds + 3600, nanoseconds: 0)
                    )
                }
            }
        }
    }

    private func source(_ auth: any AuthClient, _ exchanges: Exchanges) -> any AuthClient {
        TokenExchange.source(auth, for: .supabase, exchanges.exchange, now: { exchanges.now })!
    }

    @Test func `A session is exchanged once, again before the token runs out, and when it was refused`() async throws {
        let exchanges = Exchanges()
        let source = source(FixedAuthClient { _ in "opaque" }, exchanges)
        let first = try await source.accessToken()
        #expect(first.userID == "alice")
        #expect(try await source.accessToken() == first)
        exchanges.pass(3500)
        #expect(try await source.accessToken() == first)
        exchanges.pass(60)
        let second = try await source.accessToken()
        #expect(second != first)
        #expect(try await source.accessToken(refreshing: true) != second)
        #expect(exchanges.sessions == ["elsewhere opaque", "elsewhere opaque", "elsewhere opaque"])
    }

    @Test func `Many who ask at once make one exchange`() async throws {
        let exchanges = Exchanges()
        let source = source(FixedAuthClient { _ in "opaque" }, exchanges)
        let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<20 { group.addTask { try await source.accessToken() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == exchanges.sessions.count)
        #expect(exchanges.sessions.count < 20)
    }

    @Test func `A failed exchange is a failure that passes, and the session's own errors stay`() async throws {
        struct Mishap: Error {}
        let exchanges = Exchanges()
        exchanges.fail(with: Mishap())
        let source = source(FixedAuthClient { _ in "opaque" }, exchanges)
        let error = await #expect(throws: AuthError.self) { () async throws -> Void in
            _ = try await source.accessToken()
        }
        #expect(error?.code == .unavailable && error?.isRetryable == true)
        exchanges.fail(with: AuthError(.userDisabled, "x"))
        let own = await #expect(throws: AuthError.self) { () async throws -> Void in _ = try await source.accessToken()
        }
        #expect(own?.code == .userDisabled)
        let signedOut = self.source(
            FixedAuthClient { _ throws(AuthError) in throw AuthError(.notSignedIn, "x") }, exchanges)
        let none = await #expect(throws: AuthError.self) {
            () async throws -> Void in _ = try await signedOut.accessToken()
        }
        #expect(none?.code == .notSignedIn)
    }

    @Test func `A provider's own session is never exchanged, and without an exchange none is`() async throws {
        let exchanges = Exchanges()
        let own = FixedAuthClient(provider: .supabase) { _ in "own" }
        #expect(try await source(own, exchanges).accessToken().value == "own")
        let foreign = FixedAuthClient { _ in "foreign" }
        let source = TokenExchange.source(foreign, for: .supabase, nil, now: { exchanges.now })
        #expect(try await source?.accessToken().value == "foreign")
        #expect(exchanges.sessions.isEmpty)
    }

    @Test func `Documents on Supabase are asked for with what the session was exchanged for`() async throws {
        let exchanges = Exchanges()
        let transport = ScriptedTransport([
            .on(.post, "https://demo.supabase.co/rest/v1/rpc/hello", .json("1"))
        ])
        let module = SupabaseModule(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "sb_publishable_1"),
            tokenExchange: exchanges.exchange, transport: { transport })
        let context = ModuleContext(auth: FixedAuthClient { _ in "opaque" }, now: { exchanges.now })
        let number: Int = try await SupabaseFunctions(try module.clientContext(context)).callDatabase("hello")
        #expect(number == 1)
        let sent = transport.requests[0].request.headers["Authorization"]
        #expect(sent?.hasPrefix("Bearer e30.") == true)
        try transport.verify()
    }

    @Test func `The other way round, documents on Firebase are asked for with an exchanged Supabase session`()
        async throws
    {
        let exchanges = Exchanges()
        let requests = Mutex<[String?]>([])
        let transport = ScriptedTransport(
            order: .any,
            [
                .matching(
                    "anything",
                    { recorded in
                        requests.withLock { $0.append(recorded.request.headers["Authorization"]) }
                        return true
                    }, reply: { _ in .status(403, body: Array(#"{"error":{"status":"PERMISSION_DENIED"}}"#.utf8)) })
            ])
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", apiKey: "k"), tokenExchange: exchanges.exchange, environment: [:],
            transport: { transport })
        let auth = FixedAuthClient(provider: .supabase) { _ in "supabase session" }
        let storage = try await module.makeStorageClient(ModuleContext(auth: auth, now: { exchanges.now }))
        _ = try? await storage.document("notes/n1", from: .server)
        #expect(exchanges.sessions == ["supabase supabase session"])
        #expect(requests.withLock { $0.first }??.hasPrefix("Bearer e30.") == true)
        await storage.shutDown()
    }
}

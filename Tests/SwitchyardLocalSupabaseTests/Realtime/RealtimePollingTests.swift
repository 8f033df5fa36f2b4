import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// The way without a web socket, and faults of the realtime service.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RealtimePollingTests {
    private func address(_ client: SupabaseClient, version: String = "1.0.0") -> String {
        "/realtime/v1/longpoll?vsn=\(version)&apikey=\(client.supabase.anonKey)"
    }

    private func push(_ client: SupabaseClient, _ token: String, _ message: JSON) async throws -> JSON {
        try await client.json(
            .post, address(client), message, as: .unauthenticated, ["x-phoenix-longpoll-token": token]
        ).json
    }

    private func messages(_ client: SupabaseClient, _ token: String) async throws -> [JSON] {
        let answer = try await client.send(
            .get, address(client), as: .unauthenticated, ["x-phoenix-longpoll-token": token]
        ).json
        return (answer["messages"]?.array ?? []).compactMap { $0.string.flatMap { try? JSON(parsing: $0) } }
    }

    @Test func `A session is made, used and forgotten`() async throws {
        let client = try await SupabaseClient.shared.value
        let opened = try await client.send(.get, address(client), as: .unauthenticated)
        #expect(opened.status == 200 && opened.json["status"] == 410)
        let token = try #require(opened.json["token"]?.string)
        let join: JSON = ["topic": "realtime:polled", "event": "phx_join", "payload": ["config": [:]], "ref": "1"]
        #expect(try await push(client, token, join)["status"] == 200)
        let reply = try await messages(client, token)
        #expect(reply.first?["event"] == "phx_reply" && reply.first?["payload"]?["status"] == "ok")

        // A poll waits for what comes.
        async let waiting = messages(client, token)
        try await client.json(
            .post, "/realtime/v1/api/broadcast",
            ["messages": [["topic": "polled", "event": "e", "payload": ["a": 1]]]], as: .service)
        #expect(try await waiting.first?["payload"]?["payload"] == ["a": 1])

        client.supabase.cutSockets()
        #expect(try await push(client, token, join) == ["status": 410])
        let lost = try await client.send(
            .get, address(client), as: .unauthenticated, ["x-phoenix-longpoll-token": token]
        ).json
        #expect(lost["status"] == 410 && lost["token"]?.string != token)
        let refused = try await client.send(.get, "/realtime/v1/longpoll?vsn=1.0.0&apikey=x", as: .unauthenticated)
        #expect(refused.status == 200 && refused.json == ["status": 403])
    }

    // MARK: Faults

    @Test func `Events are dropped, doubled, held back and late as it was said`() async throws {
        let client = try await SupabaseClient()
        let peer = try await RealtimePeer(client, as: .service)
        try await peer.join("realtime:f")
        func send(_ number: Int) async throws {
            try await client.json(
                .post, "/realtime/v1/api/broadcast/f/events/e", ["n": .integer(Int64(number))], as: .service)
        }
        func received() -> [Int] { peer.all("broadcast", "realtime:f").compactMap { $0.payload["payload"]?["n"]?.int } }
        func fault(_ switches: JSON) async throws {
            let answer = try await client.json(.post, "/_supabase/faults", switches, as: .unauthenticated)
            #expect(answer.status == 200)
        }
        try await fault(["dropEvents": 1])
        for number in 1...2 { try await send(number) }
        try await eventually("the second") { received() == [2] }
        try await fault(["doubleEvents": 1])
        try await send(3)
        try await eventually("twice") { received() == [2, 3, 3] }
        try await fault(["reorderEvents": 1])
        for number in 4...5 { try await send(number) }
        try await eventually("in the wrong order") { received() == [2, 3, 3, 5, 4] }
        try await fault(["delayEvents": 1, "delay": 200])
        for number in 6...7 { try await send(number) }
        try await eventually("the late one last") { received() == [2, 3, 3, 5, 4, 7, 6] }

        let wrong = try await client.json(.post, "/_supabase/faults", ["dropEvent": 1], as: .unauthenticated)
        #expect(wrong.status == 400)
        try await fault(["refuseWebSockets": true, "cutSockets": true])
        try await eventually("the connection has ended") { peer.hasEnded }
        let refusal = await #expect(throws: TransportError.self) {
            () async throws -> Void in _ = try await RealtimePeer(client, as: .service)
        }
        #expect(refusal?.response?.status == 403)
        try await fault(["refuseWebSockets": false])
        await (try await RealtimePeer(client, as: .service)).leave()
        await client.stop()
    }

    @Test func `Tokens that were in use can be made to expire, and only they`() async throws {
        let client = try await SupabaseClient()
        let peer = try await RealtimePeer(client, as: .anonymous)
        let token = client.supabase.accessToken(for: "ann")
        try await peer.join("realtime:hers", token: token)
        try await peer.join("realtime:everybody's")
        try await client.json(.post, "/_supabase/faults", ["expireTokens": true], as: .unauthenticated)
        _ = try await peer.system("realtime:hers", "Token has expired")
        let again = try await peer.join("realtime:hers", token: token)
        #expect(again.reason?.hasPrefix("InvalidJWTToken: Token has expired") == true)
        #expect(try await peer.join("realtime:hers", token: client.supabase.accessToken(for: "bob")).status == "ok")
        #expect(peer.all("phx_close", "realtime:everybody's").isEmpty)
        await peer.leave()
        await client.stop()
    }

    @Test func `The database restarts, and channels go on`() async throws {
        let client = try await SupabaseClient()
        let peer = try await RealtimePeer(client, as: .service)
        try await peer.join("realtime:r", ["private": true, "broadcast": ["replication_ready": true]])
        _ = try await peer.system("realtime:r", "Replication connection established")
        try await client.supabase.postgres?.restart()
        try await eventually("a message of the database comes through") {
            _ = try? await client.sql("select realtime.send('{}', 'e', 'r')")
            return !peer.all("broadcast", "realtime:r").isEmpty
        }
        #expect(peer.all("phx_close", "realtime:r").isEmpty)
        await peer.leave()
        await client.stop()
    }
}

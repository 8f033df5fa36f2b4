import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Private channels: who may listen and send, by the policies on `realtime.messages`.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RealtimeIsolationTests {
    /// A project whose private channels `own:<user>…` are that user's, and where no one sends but on `own:ann:open`.
    private static let site = Task { () async throws -> SupabaseClient in
        let client = try await SupabaseClient()
        for policy in [
            """
            create policy listen on realtime.messages for select to authenticated
            using (realtime.topic() like 'own:' || (auth.jwt() ->> 'sub') || '%')
            """,
            """
            create policy send on realtime.messages for insert to authenticated
            with check (realtime.topic() = 'own:ann:open' and realtime.messages.extension = 'broadcast')
            """,
        ] { _ = try await client.sql(policy) }
        return client
    }

    @Test func `No one joins a private channel that is another's`() async throws {
        let client = try await Self.site.value
        let ann = try await RealtimePeer(client, as: .user("ann"))
        let bob = try await RealtimePeer(client, as: .user("bob"))
        let signedOut = try await RealtimePeer(client, as: .anonymous)
        #expect(try await ann.join("realtime:own:ann", ["private": true]).status == "ok")
        for peer in [bob, signedOut] {
            let reply = try await peer.join("realtime:own:ann", ["private": true])
            #expect(reply.reason?.hasPrefix("Unauthorized: You do not have permissions to read") == true)
        }
        // The public channel of that name is another one.
        #expect(try await bob.join("realtime:own:ann").status == "ok")
        _ = try await client.sql("select realtime.send('{\"secret\": 1}', 'e', 'own:ann')")
        _ = try await ann.first("hers") { $0.event == "broadcast" }
        // In order: what comes later than a secret that was let out would be behind it.
        _ = try await bob.reply(to: try await bob.push("phoenix", "heartbeat"))
        #expect(bob.frames.allSatisfy { $0.event != "broadcast" })
        for peer in [ann, bob, signedOut] { await peer.leave() }
    }

    @Test func `Who may listen may not send for that, by no way`() async throws {
        let client = try await Self.site.value
        let ann = try await RealtimePeer(client, as: .user("ann"))
        let other = try await RealtimePeer(client, as: .user("ann"))
        for topic in ["realtime:own:ann:open", "realtime:own:ann:shut"] {
            for peer in [ann, other] {
                try await peer.join(topic, ["private": true, "broadcast": ["ack": true]])
            }
        }
        let message: JSON = ["type": "broadcast", "event": "x", "payload": ["a": 1]]
        try await ann.push("realtime:own:ann:shut", "broadcast", message)
        let open = try await ann.reply(to: try await ann.push("realtime:own:ann:open", "broadcast", message))
        #expect(open.status == "ok")
        _ = try await other.first("what may be sent") { $0.event == "broadcast" }

        let many = try await client.json(
            .post, "/realtime/v1/api/broadcast",
            [
                "messages": [
                    ["topic": "own:ann:shut", "event": "x", "payload": ["a": 2], "private": true],
                    ["topic": "own:ann:open", "event": "x", "payload": ["a": 3], "private": true],
                ]
            ], as: .user("ann"))
        #expect(many.status == 202)
        let one = try await client.json(
            .post, "/realtime/v1/api/broadcast/own:ann:shut/events/x?private=true", ["a": 4], as: .user("ann"))
        #expect(one.status == 403)
        let outsider = try await client.json(
            .post, "/realtime/v1/api/broadcast/own:ann:shut/events/x?private=true", ["a": 5], as: .anonymous)
        #expect(outsider.status == 403)
        try await eventually("what may be sent") { other.all("broadcast", "realtime:own:ann:open").count == 2 }
        #expect(other.all("broadcast", "realtime:own:ann:shut").isEmpty)
        let presence = try await ann.reply(
            to: try await ann.push(
                "realtime:own:ann:open", "presence", ["event": "track", "payload": ["a": 1]]))
        #expect(presence.status == "error")
        for peer in [ann, other] { await peer.leave() }
    }

    @Test func `A token of somebody else ends what that one may not receive`() async throws {
        let client = try await Self.site.value
        let peer = try await RealtimePeer(client, as: .user("ann"))
        try await peer.join("realtime:own:ann:mine", ["private": true])
        try await peer.push(
            "realtime:own:ann:mine", "access_token",
            ["access_token": .string(client.supabase.accessToken(for: "bob"))])
        _ = try await peer.system("realtime:own:ann:mine", "You no longer have permission to read")
        _ = try await peer.first("the end") { $0.event == "phx_close" }
        await peer.leave()
    }

    @Test func `What the service keeps is no one's to read or to call`() async throws {
        let client = try await Self.site.value
        for statement in [
            "select * from realtime.queue", "delete from realtime.queue",
            "select realtime.rights('own:ann', 'service_role', '{}')", "delete from realtime.messages",
            "insert into realtime.messages (topic, extension, event, payload) values ('own:ann', 'broadcast', 'e', '{}')",
        ] {
            let token = try client.supabase.context.access.token(client.supabase.accessToken(for: "bob"))
            let failure = await #expect(throws: PostgresFailure.self, "\(statement)") {
                _ = try await client.supabase.database.run([PostgresStatement(statement)], as: token)
            }
            #expect(failure?.code == "42501")
        }
    }
}

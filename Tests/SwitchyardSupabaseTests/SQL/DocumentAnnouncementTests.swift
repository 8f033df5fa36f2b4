import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What the database says to the realtime service, and who may receive it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DocumentAnnouncementTests {
    /// As much of the service's schema as the functions meet.
    private static let realtime = """
        do $$ begin
          create role anon nologin; create role authenticated nologin;
        exception when duplicate_object then null;  -- Roles are the whole server's.
        end $$;
        create schema realtime;
        create table realtime.messages (id bigserial, topic text, extension text, payload jsonb, event text, private boolean);
        alter table realtime.messages enable row level security;
        grant usage on schema realtime to anon, authenticated;
        grant select on realtime.messages to anon, authenticated;
        create function realtime.topic() returns text language sql stable as
          $$ select nullif(current_setting('realtime.topic', true), '') $$;
        create function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
          language sql as $$
            insert into realtime.messages (topic, extension, payload, event, private)
            values (topic, 'broadcast', payload, event, private) $$;
        """

    private func withDatabase(_ body: (PostgresServer) async throws -> Void) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(Self.realtime)
        try await server.query(DocumentSchema.sql)
        try await body(server)
    }

    private func commit(_ writes: [DocumentWrite], as name: String, on server: PostgresServer) async throws {
        try await server.query(
            "select public.switchyard_commit(:'batch', :'writes');",
            ["batch": name, "writes": JSON.array(writes.map { .object($0.postgres) }).text()])
    }

    @Test func `A transaction announces each collection once, to those who follow it and its group`() async throws {
        try await withDatabase { (server: PostgresServer) async throws -> Void in
            let writes: [DocumentWrite] = [
                try .set("users/ann/posts/a", ["x": 1]), try .set("users/ann/posts/b", ["x": 1]),
                try .merge("users/ann/posts/a", ["x": .increment(1)]), .delete("users/ann/posts/b"),
                try .set("notes/n", ["x": 1]),
            ]
            try await commit(writes, as: "b1", on: server)
            let topics = try await server.query("select topic from realtime.messages order by topic")
            #expect(
                topics.split(separator: "\n") == [
                    "documents:*/notes", "documents:*/posts", "documents:notes", "documents:users/ann/posts",
                ])
            // Where and when, and nothing of what.
            let hints = try await server.query(
                "select distinct event, private, payload - 'transaction' from realtime.messages")
            #expect(hints == "change|t|{}")
            let transactions = try await server.query(
                """
                select count(distinct payload ->> 'transaction') = 1
                   and bool_and((payload ->> 'transaction')::xid8 = (select max(version) from switchyard.documents))
                from realtime.messages
                """)
            #expect(transactions == "t")
            // The same batch again writes nothing, so there is nothing to announce.
            try await commit(writes, as: "b1", on: server)
            #expect(try await server.query("select count(*) from realtime.messages") == "4")
            try await commit([.delete("notes/n")], as: "b2", on: server)
            #expect(try await server.query("select count(*) from realtime.messages") == "6")
        }
    }

    @Test func `The service's own policy lets everybody listen who could read something there`() async throws {
        try await withDatabase { (server: PostgresServer) async throws -> Void in
            try await server.query("insert into switchyard.rules values ('posts', 'public', 'owner');")
            try await commit([try .set("posts/a", ["x": 1]), try .set("notes/a", ["x": 1])], as: "b1", on: server)
            func mayReceive(_ topic: String, by role: String, _ claims: String) async throws -> String {
                let answer = try await server.query(
                    """
                    set role \(role); set request.jwt.claims = '\(claims)'; set realtime.topic = '\(topic)';
                    select count(*) > 0 from realtime.messages where topic = '\(topic)';
                    """)
                return answer
            }
            #expect(try await mayReceive("documents:posts", by: "anon", "{}") == "t")
            #expect(try await mayReceive("documents:*/posts", by: "anon", "{}") == "t")
            #expect(try await mayReceive("documents:notes", by: "anon", "{}") == "f")
            #expect(try await mayReceive("documents:notes", by: "authenticated", #"{"sub": "ann"}"#) == "t")
        }
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Changes of rows, as the database reports them, and who may know of them.
// One at a time: one of them takes rights from everybody.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .serialized)
struct RealtimeChangeTests {
    private struct Bed {
        let client: SupabaseClient
        let table: String

        /// A table that is published, with rows that are their owners'.
        init(_ more: String = "") async throws {
            client = try await SupabaseClient.shared.value
            table = "t_\(RandomID.make(length: 10).lowercased())"
            let connection = try await client.supabase.database.connect()
            defer { connection.close() }
            try await connection.run(
                script: """
                    create table \(table) (id int primary key, owner text, body text, amount numeric, big bigint);
                    alter table \(table) enable row level security;
                    create policy own on \(table) using (owner = (auth.jwt() ->> 'sub'));
                    \(more);
                    alter publication supabase_realtime add table \(table);
                    """)
        }

        func sql(_ text: String) async throws {
            _ = try await client.supabase.database.run([PostgresStatement(text)])
        }

        func peer(_ user: String, _ bindings: JSON? = nil, topic: String = "realtime:changes") async throws
            -> RealtimePeer
        {
            let peer = try await RealtimePeer(client, as: .user(user))
            let all: JSON = [["event": "*", "schema": "public", "table": .string(table)]]
            let reply = try await peer.join(topic, ["postgres_changes": bindings ?? all])
            #expect(reply.status == "ok")
            _ = try await peer.system(topic, "Subscribed to PostgreSQL")
            return peer
        }
    }

    private func changes(_ peer: RealtimePeer) -> [JSON] {
        peer.frames.filter { $0.event == "postgres_changes" }.compactMap { $0.payload["data"] }
    }

    private func summary(_ peer: RealtimePeer) -> [String] {
        changes(peer).map {
            "\($0["type"]?.string ?? "") \(($0["record"]?["id"] ?? $0["old_record"]?["id"])?.int ?? -1)"
        }
    }

    @Test func `Of a table without policies every change is delivered, however quickly the next one comes`()
        async throws
    {
        let bed = try await Bed()
        try await bed.sql("alter table \(bed.table) disable row level security")
        let ann = try await bed.peer("ann")
        for round in 1...30 {
            try await bed.sql("insert into \(bed.table) values (\(round), 'ann', 'x', 1, 1)")
            try await bed.sql("update \(bed.table) set body = 'y' where id = \(round)")
            try await bed.sql("delete from \(bed.table) where id = \(round)")
            try await eventually("round \(round)") { changes(ann).count >= 3 * round }
        }
        #expect(summary(ann) == (1...30).flatMap { ["INSERT \($0)", "UPDATE \($0)", "DELETE \($0)"] })
    }

    @Test func `Three changes in one transaction are three events`() async throws {
        let bed = try await Bed()
        try await bed.sql("alter table \(bed.table) disable row level security")
        let ann = try await bed.peer("ann")
        _ = try await bed.client.supabase.database.run([
            PostgresStatement("insert into \(bed.table) values (1, 'ann', 'x', 1, 1)"),
            PostgresStatement("update \(bed.table) set body = 'y' where id = 1"),
            PostgresStatement("delete from \(bed.table) where id = 1"),
        ])
        try await eventually("all three") { changes(ann).count == 3 }
        #expect(summary(ann) == ["INSERT 1", "UPDATE 1", "DELETE 1"])
    }

    @Test(arguments: ["nowhere", "unpublished"])
    func `Changes of a table that is not there or not published are refused in words`(_ name: String) async throws {
        let bed = try await Bed()
        try await bed.sql("create table if not exists public.unpublished (id int primary key)")
        try await bed.sql("grant select on public.unpublished to authenticated")
        let peer = try await RealtimePeer(bed.client, as: .user("ann"))
        let bindings: JSON = [["event": "*", "schema": "public", "table": .string(name)]]
        #expect(try await peer.join("realtime:refused", ["postgres_changes": bindings]).status == "ok")
        let said = try await peer.system("realtime:refused", "Unable to subscribe to changes with given parameters")
        #expect(said.payload["status"] == "error" && said.payload["extension"] == "postgres_changes")
    }

    @Test func `Rows are delivered to their owners, with their columns`() async throws {
        let bed = try await Bed()
        let ann = try await bed.peer("ann")
        let bob = try await bed.peer("bob")
        try await bed.sql("insert into \(bed.table) values (1, 'ann', 'x', 1.5, 9007199254740993)")
        try await bed.sql("insert into \(bed.table) values (2, 'bob', 'y', null, null)")
        try await bed.sql("update \(bed.table) set body = 'z' where id = 1")
        // A row that is gone when it is looked for is reported as deleted only.
        try await eventually("the row") { changes(ann).count == 2 }
        try await bed.sql("delete from \(bed.table) where id = 1")
        try await eventually("all that is hers") { changes(ann).count == 3 }
        #expect(summary(ann) == ["INSERT 1", "UPDATE 1", "DELETE 1"])
        let insert = changes(ann)[0]
        #expect(insert["schema"] == "public" && insert["table"]?.string == bed.table && insert["errors"] == .null)
        #expect(insert["record"]?["body"] == "x" && insert["record"]?["amount"] == 1.5)
        #expect(insert["record"]?["big"] == 9_007_199_254_740_993)
        #expect(insert["columns"]?[0] == ["name": "id", "type": "int4"])
        #expect(insert["commit_timestamp"]?.string.flatMap { RFC3339.parse($0) } != nil)
        #expect(changes(ann)[1]["old_record"] == ["id": 1] && changes(ann)[1]["record"]?["body"] == "z")
        #expect(changes(ann)[2]["old_record"] == ["id": 1] && changes(ann)[2]["record"] == nil)

        // Deletions are delivered to everybody, with the key alone.
        try await eventually("what is his") { changes(bob).count == 2 }
        #expect(summary(bob) == ["INSERT 2", "DELETE 1"])
        for peer in [ann, bob] { await peer.leave() }
    }

    @Test func `A row that goes out of sight is not delivered, and columns that may not be read are not`() async throws
    {
        let bed = try await Bed(
            "revoke select on all tables in schema public from authenticated")
        try await bed.sql("grant select (id, owner) on \(bed.table) to authenticated")
        let ann = try await bed.peer("ann")
        let bob = try await bed.peer("bob")
        // Who may see a row is asked when a change is delivered, not when it is made: each waits for the one before.
        try await bed.sql("insert into \(bed.table) values (1, 'ann', 'hidden', 1, 1)")
        try await eventually("the row") { summary(ann) == ["INSERT 1"] }
        try await bed.sql("update \(bed.table) set owner = 'bob'")
        try await eventually("what he may see") { summary(bob) == ["UPDATE 1"] }
        try await bed.sql("update \(bed.table) set owner = 'ann'")
        try await eventually("what she may see") { changes(ann).count >= 2 }
        #expect(summary(ann) == ["INSERT 1", "UPDATE 1"] && summary(bob) == ["UPDATE 1"])
        #expect(changes(ann).allSatisfy { !$0.text().contains("hidden") })
        #expect(changes(ann).last?["columns"]?.array?.map { $0["name"]?.string } == ["id", "owner"])
        try await bed.sql("revoke select (id) on \(bed.table) from authenticated")
        try await bed.sql("update \(bed.table) set body = 'secret'")
        try await eventually("the refusal") {
            changes(ann).last?["errors"] == ["Error 401: Unauthorized"]
        }
        #expect(changes(ann).last?["record"] == [:])
        for peer in [ann, bob] { await peer.leave() }
    }

    @Test func `Without row-level security every change is delivered, however soon the next one follows`() async throws
    {
        let bed = try await Bed()
        try await bed.sql("alter table \(bed.table) disable row level security")
        let ann = try await bed.peer("ann")
        for id in 1...20 {
            try await bed.sql(
                """
                do $$ begin insert into \(bed.table) values (\(id)); update \(bed.table) set body = 'x' where id = \(id);
                delete from \(bed.table) where id = \(id); end $$
                """)
        }
        try await eventually("all of them") { changes(ann).count == 60 }
        #expect(summary(ann) == (1...20).flatMap { ["INSERT \($0)", "UPDATE \($0)", "DELETE \($0)"] })
        await ann.leave()
    }

    @Test func `Bindings and filters choose, and are delivered with their numbers`() async throws {
        let bed = try await Bed()
        let table = JSON.string(bed.table)
        let ann = try await RealtimePeer(bed.client, as: .service)
        let reply = try await ann.join(
            "realtime:f",
            [
                "postgres_changes": [
                    ["event": "INSERT", "schema": "public", "table": table, "filter": "amount=gt.10"],
                    ["event": "*", "schema": "public", "table": table, "filter": "body=in.(a,\"b,c\")"],
                    ["event": "UPDATE", "schema": "public", "table": table],
                ]
            ])
        let ids = reply.payload["response"]?["postgres_changes"]?.array?.compactMap { $0["id"]?.int } ?? []
        #expect(Set(ids).count == 3)
        _ = try await ann.system("realtime:f", "Subscribed to PostgreSQL")
        try await bed.sql(
            "insert into \(bed.table) values (1, 'x', 'a', 11, 0), (2, 'x', 'q', 9, 0), (3, 'x', 'b,c', 5, 0)")
        try await bed.sql("update \(bed.table) set amount = 100 where id = 2")
        try await eventually("what is chosen") { changes(ann).count == 3 }
        #expect(summary(ann) == ["INSERT 1", "INSERT 3", "UPDATE 2"])
        let delivered = ann.frames.filter { $0.event == "postgres_changes" }.map { $0.payload["ids"] }
        #expect(
            delivered == [
                [.integer(Int64(ids[0])), .integer(Int64(ids[1]))], [.integer(Int64(ids[1]))],
                [.integer(Int64(ids[2]))],
            ])
        await ann.leave()
    }

    @Test(arguments: [
        (#"{"table": null, "schema": "public"}"#, "No subscription params provided"),
        (#"{"schema": "public", "table": "T", "filter": null}"#, "No subscription params provided"),
        (#"{"table": "T", "filter": "id=eq.1"}"#, "No subscription params provided"),
        (#"{"schema": "public", "table": "T", "filter": "id=eq.1,"}"#, "Error parsing `filter` params"),
        (#"{"schema": "public", "table": "T", "filter": "id=near.1"}"#, "Error parsing `filter` params"),
        (#"{"schema": "public", "table": "T", "filter": "nothing=eq.1"}"#, "Unable to subscribe to changes"),
        (#"{"schema": "public", "table": "T", "filter": "id=eq.x"}"#, "Unable to subscribe to changes"),
    ])
    func `A bad binding is reported, and the channel stays`(_ binding: String, _ text: String) async throws {
        let bed = try await Bed()
        var object = try JSON(parsing: binding).object ?? [:]
        if object["table"] == "T" { object["table"] = .string(bed.table) }
        let peer = try await RealtimePeer(bed.client, as: .service)
        let good: JSON = ["event": "*", "schema": "public", "table": .string(bed.table)]
        let reply = try await peer.join("realtime:bad", ["postgres_changes": [good, .object(object)]])
        #expect(reply.status == "ok")
        let problem = try await peer.system("realtime:bad", text)
        #expect(problem.status == "error" && problem.payload["extension"] == "postgres_changes")
        try await bed.sql("insert into \(bed.table) values (1)")
        let left = try await peer.reply(to: try await peer.push("realtime:bad", "phx_leave"))
        #expect(left.status == "ok" && changes(peer).isEmpty)
        await peer.leave()
    }

    @Test func `Large rows are delivered without their large values, tables without a key not at all`() async throws {
        let bed = try await Bed()
        let peer = try await RealtimePeer(bed.client, as: .service)
        try await bed.sql("alter table \(bed.table) replica identity full")
        try await peer.join(
            "realtime:l", ["postgres_changes": [["event": "*", "schema": "public", "table": .string(bed.table)]]])
        _ = try await peer.system("realtime:l", "Subscribed to PostgreSQL")
        try await bed.sql("insert into \(bed.table) values (1, 'ann', repeat('x', 1200000), 1, 1)")
        try await bed.sql("update \(bed.table) set body = 'short'")
        try await eventually("both") { changes(peer).count == 2 }
        #expect(changes(peer)[0]["errors"] == ["Error 413: Payload Too Large"])
        #expect(changes(peer)[0]["record"]?["body"] == nil && changes(peer)[0]["record"]?["owner"] == "ann")
        #expect(changes(peer)[0]["record"]?["id"] == 1)
        // The old row as a whole, where the table says so.
        #expect(changes(peer)[1]["old_record"]?["owner"] == "ann")

        try await bed.sql("alter table \(bed.table) replica identity default")
        try await bed.sql("alter table \(bed.table) drop constraint \(bed.table)_pkey")
        try await bed.sql("insert into \(bed.table) values (2, 'ann', 'keyless', 1, 1)")
        try await eventually("the refusal") { changes(peer).count == 3 }
        #expect(changes(peer)[2]["errors"] == ["Error 400: Bad Request, no primary key"])
        await peer.leave()
    }

    @Test func `Tables come and go with the publication`() async throws {
        let bed = try await Bed()
        let peer = try await RealtimePeer(bed.client, as: .service)
        try await peer.join("realtime:p", ["postgres_changes": [["schema": "public", "table": "*", "event": "*"]]])
        _ = try await peer.system("realtime:p", "Subscribed to PostgreSQL")
        try await bed.sql("alter publication supabase_realtime drop table \(bed.table)")
        try await bed.sql("insert into \(bed.table) values (1)")
        try await bed.sql("alter publication supabase_realtime add table \(bed.table)")
        try await bed.sql("insert into \(bed.table) values (2)")
        func own() -> [String] {
            changes(peer).filter { $0["table"]?.string == bed.table }.map { "\($0["record"]?["id"]?.int ?? -1)" }
        }
        try await eventually("the second row") { own() == ["2"] }
        await peer.leave()
    }

    @Test func `A new token counts from then on`() async throws {
        let bed = try await Bed()
        let peer = try await bed.peer("ann")
        try await bed.sql("insert into \(bed.table) values (1, 'bob'), (2, 'ann')")
        try await eventually("hers") { summary(peer) == ["INSERT 2"] }
        try await peer.push(
            "realtime:changes", "access_token",
            ["access_token": .string(bed.client.supabase.accessToken(for: "bob"))])
        try await eventually("it is said that changes come with the new token") {
            peer.frames.count { $0.payload["message"] == "Subscribed to PostgreSQL" } == 2
        }
        try await bed.sql("insert into \(bed.table) values (3, 'bob'), (4, 'ann')")
        try await eventually("his") { summary(peer) == ["INSERT 2", "INSERT 3"] }
        await peer.leave()
    }
}

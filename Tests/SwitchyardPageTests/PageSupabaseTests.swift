import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardPage
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The page of a local Supabase.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed")) struct PageSupabaseTests {
    /// A project with documents and a table whose rows belong to someone.
    struct Bed: Sendable {
        let supabase: LocalSupabase
        let page: PageBed

        init() async throws {
            var options = LocalSupabaseOptions()
            options.scripts = [
                DocumentSchema.sql,
                """
                create table public.orders (
                  id bigint generated always as identity primary key, owner text not null default auth.jwt() ->> 'sub',
                  title text not null, state text not null default 'open');
                alter table public.orders enable row level security;
                grant all on public.orders to anon, authenticated, service_role;
                create policy "own orders" on public.orders for select to authenticated
                  using (owner = auth.jwt() ->> 'sub' and state <> 'hidden');
                create policy "add own" on public.orders for insert to authenticated
                  with check (owner = auth.jwt() ->> 'sub' and char_length(title) < 10);
                create policy "careful" on public.orders as restrictive for insert to authenticated
                  with check (auth.jwt() ->> 'aal' = 'aal2');
                create table public.plain (id uuid primary key default gen_random_uuid(), n int);
                revoke all on public.plain from anon, authenticated;
                grant select on public.plain to anon, authenticated;
                grant all on public.plain to service_role;
                insert into switchyard.rules values ('news', 'public', 'none'), ('notes', 'owner', 'owner');
                insert into public.orders (owner, title) values ('alice', 'tea'), ('bob', 'cake');
                """,
            ]
            options.buckets = ["files"]
            supabase = try await LocalSupabase.onSharedPostgres(options)
            page = try PageBed([try await .local(supabase)], backend: "supabase")
        }

        func stop() async {
            await page.stop()
            await supabase.stop()
        }

        @discardableResult
        func send(
            _ method: HTTPMethod, _ path: String, as user: String?, assurance: String = "aal1", _ body: JSON? = nil
        ) async throws -> HTTPResponse {
            var request = HTTPRequest(method, "http://127.0.0.1:\(supabase.port)" + path)
            request.headers["apikey"] = supabase.anonKey
            if let user {
                request.headers["Authorization"] =
                    "Bearer " + supabase.accessToken(for: user, claims: [:], assurance: assurance)
            }
            if let body {
                request.headers["Content-Type"] = "application/json"
                request.body = body.bytes()
            }
            return try await page.transport.send(request)
        }

        func last() async throws -> JSON { try await page.lastRequest() }
    }

    private func steps(_ request: JSON) -> [JSON] { request["explanation"]?["steps"]?.array ?? [] }

    @Test func `Tables are collections beside the documents`() async throws {
        let bed = try await Bed()
        try await bed.page.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        let all = try await bed.page.call(.get, "collections")["collections"]?.array ?? []
        #expect(all.filter { $0["isTable"] == true }.compactMap { $0["id"]?.string }.sorted() == ["orders", "plain"])
        #expect(all.contains { $0["path"] == "notes" && $0["isTable"] == false })
        let rows = try await bed.page.call(.post, "query", ["collection": "orders", "text": "order by title"])
        #expect(rows["documents"]?.array?.compactMap { $0["data"]?["title"]?["string"]?.string } == ["cake", "tea"])
        #expect(try await bed.page.call(.post, "count", ["collection": "orders"])["count"] == 2)
        let added = try await bed.page.call(
            .post, "write", ["kind": "add", "collection": "orders", "data": ["owner": "carol", "title": "pie"]])
        let path = added["path"]?.string ?? ""
        #expect(try await bed.page.call(.post, "get", ["path": .string(path)])["data"]?["title"] == ["string": "pie"])
        _ = try await bed.supabase.database.run([
            PostgresStatement("create table public.later (id text primary key, n int)")
        ])
        // One that no collection can be called like is left out.
        _ = try await bed.supabase.database.run([
            PostgresStatement("create table public.\"odd/name\" (id text primary key, n int)")
        ])
        let later = try await bed.page.call(.get, "collections")["collections"]?.array ?? []
        #expect(later.contains { $0["id"] == "later" })
        await bed.stop()
    }

    @Test func `The policy that decided is said with its operands and the row`() async throws {
        let bed = try await Bed()
        let id = try await bed.page.call(.post, "query", ["collection": "orders", "text": "where title = \"cake\""])
        let row = id["documents"]?[0]?["id"]?.string ?? ""
        try await bed.send(.get, "/rest/v1/orders?id=eq.\(row)", as: "alice")
        let request = try await bed.last()
        let policy = steps(request).first { $0["name"] == "own orders" }
        #expect(policy?["source"] == "policy")
        #expect(policy?["result"] == false)
        #expect(policy?["row"]?["title"] == "cake")
        let operands = policy?["operands"]?.array ?? []
        #expect(operands.count == 2)
        #expect(operands.first?["decisive"] == true)
        #expect(operands.first?["value"] == "false: bob and alice")
        #expect(operands.last?["decisive"] == false)
        await bed.stop()
    }

    @Test func `An insertion is tried with the new row, and every restrictive policy counts`() async throws {
        let bed = try await Bed()
        let denied = try await bed.send(.post, "/rest/v1/orders", as: "alice", ["title": "jam"])
        #expect(denied.status == 403)
        let request = try await bed.last()
        #expect(request["decision"] == ["allowed": false])
        #expect(request["who"]?["id"] == "alice")
        #expect(steps(request).first { $0["name"] == "add own" }?["result"] == true)
        let careful = steps(request).first { $0["name"] == "careful" }
        #expect(careful?["result"] == false)
        #expect(careful?["operands"]?[0]?["value"] == "false: aal1 and aal2")
        #expect(careful?["row"]?["owner"] == "alice")
        try await bed.send(.post, "/rest/v1/orders", as: "alice", assurance: "aal2", ["title": "jam"])
        let allowed = try await bed.last()
        #expect(allowed["explanation"]?["allowed"] == true)
        try await bed.send(.post, "/rest/v1/orders", as: "alice", assurance: "aal2", ["title": "jam and bread"])
        let long = steps(try await bed.last()).first { $0["name"] == "add own" }
        #expect(long?["operands"]?.array?.first { $0["decisive"] == true }?["value"] == "false: 13 and 10")
        await bed.stop()
    }

    @Test func `What no policy guards is said, and so is a missing grant`() async throws {
        let bed = try await Bed()
        try await bed.send(.get, "/rest/v1/plain", as: nil)
        #expect(steps(try await bed.last()).contains { $0["name"] == "row-level security" })
        try await bed.send(.post, "/rest/v1/plain", as: "alice", ["n": 1])
        let request = try await bed.last()
        #expect(request["explanation"]?["allowed"] == false)
        #expect(steps(request).first?["name"] == "grant")
        #expect(steps(request).first?["result"] == false)
        await bed.stop()
    }

    @Test func `The rule of a document's collection is said with its owner`() async throws {
        let bed = try await Bed()
        try await bed.page.call(
            .post, "write",
            ["kind": "set", "path": "notes/a", "data": ["n": 1], "as": ["user": "alice"]])
        let write: JSON = ["batch": "b-1", "writes": [["op": "set", "path": "notes/a", "data": ["n": 2]]]]
        let denied = try await bed.send(.post, "/rest/v1/rpc/switchyard_commit", as: "bob", write)
        #expect(denied.status == 403)
        let request = try await bed.last()
        #expect(request["what"] == "set notes/a")
        #expect(request["explanation"]?["allowed"] == false)
        let step = steps(request).first { $0["source"] == "policy" }
        #expect(step?["operands"]?.array?.first { $0["text"] == "the owner is" }?["value"] == "alice")
        #expect(step?["operands"]?.array?.first { $0["text"] == "caller" }?["value"] == "bob")
        let check = try await bed.page.call(.post, "actAs/check", ["path": "news/x", "as": ["user": "bob"]])
        #expect(check["read"]?["allowed"] == true)
        #expect(check["write"]?["allowed"] == false)
        let row = try await bed.page.call(.post, "actAs/check", ["path": "orders/1", "as": ["user": "alice"]])
        #expect(row["read"]?["allowed"] == true)
        #expect(row["write"]?["allowed"] == false)
        #expect(row["read"]?["explanation"]?["steps"]?.array?.contains { $0["name"] == "own orders" } == true)
        await bed.stop()
    }

    @Test func `Acting as someone shows what they would see`() async throws {
        let bed = try await Bed()
        let mine = try await bed.page.call(
            .post, "query", ["collection": "orders", "as": ["user": "alice"]])
        #expect(mine["documents"]?.array?.compactMap { $0["data"]?["title"]?["string"]?.string } == ["tea"])
        let refused = try await bed.page.send(
            .post, "/api/b/supabase/write",
            [
                "kind": "add", "collection": "orders", "data": ["owner": "alice", "title": "jam"],
                "as": ["user": "alice"],
            ])
        #expect(refused.status == 403)
        try await bed.page.call(
            .post, "write",
            [
                "kind": "add", "collection": "orders", "data": ["owner": "alice", "title": "jam"],
                "as": ["user": "alice", "assurance": "aal2"],
            ])
        let none = try await bed.page.send(
            .post, "/api/b/supabase/query", ["collection": "orders", "as": ["signedOut": true]])
        #expect(try JSON(parsing: none.body)["documents"] == [], "\(String(decoding: none.body, as: UTF8.self))")
        await bed.stop()
    }

    @Test func `Accounts, sessions and mails`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        let made = try await bed.page.call(
            .post, "accounts", ["email": "a@example.com", "password": "123456", "isEmailVerified": true])
        let id = made["id"]?.string ?? ""
        let credentials: JSON = ["email": "a@example.com", "password": "123456"]
        try await bed.send(.post, "/auth/v1/token?grant_type=password", as: nil, credentials)
        let sessions = try await bed.page.call(.get, "accounts/\(id)/sessions")
        #expect(sessions["sessions"]?.array?.count == 1)
        let session = sessions["sessions"]?[0]?["id"]?.string ?? ""
        try await bed.page.call(.delete, "accounts/\(id)/sessions/\(session)")
        #expect(try await bed.page.call(.get, "accounts/\(id)/sessions")["sessions"] == [])
        let changed = try await bed.page.call(
            .patch, "accounts/\(id)", ["claims": ["team": "red"], "isDisabled": true, "name": "Ada"])
        #expect(changed["isDisabled"] == true)
        let list = try await bed.page.call(.get, "accounts")["accounts"]?.array
        #expect(list?.count == 1)
        #expect(list?.first?["claims"]?["team"] == "red")
        #expect(list?.first?["name"] == "Ada")
        try await bed.page.call(.patch, "accounts/\(id)", ["isDisabled": false])
        try await bed.send(.post, "/auth/v1/otp", as: nil, ["email": "a@example.com", "create_user": false])
        let mail = try await events.first("outbox", "the mail") { $0["kind"] == "mail" }
        #expect(mail["to"] == "a@example.com")
        let link = mail["links"]?[0]?.string ?? ""
        // It leads on to the app, which is not there.
        _ = try? await bed.page.transport.send(HTTPRequest(.get, link))
        #expect(try await bed.page.call(.get, "accounts/\(id)/sessions")["sessions"]?.array?.count == 1)
        events.stop()
        await bed.stop()
    }

    @Test func `Files lie in buckets, and are stored and read`() async throws {
        let bed = try await Bed()
        #expect(try await bed.page.call(.get, "files")["folders"] == ["files/"])
        let put = try await bed.page.send(.put, "/api/b/supabase/file?path=files/a/b.txt", .string("hello"))
        #expect(put.status == 200)
        let list = try await bed.page.call(.get, "files?prefix=files/a")
        #expect(list["files"]?[0]?["path"] == "files/a/b.txt")
        let content = try await bed.page.send(.get, "/api/b/supabase/file?path=files/a/b.txt")
        #expect(String(decoding: content.body, as: UTF8.self) == "\"hello\"")
        #expect(content.headers["Content-Security-Policy"]?.hasPrefix("sandbox") == true)
        try await bed.page.call(.delete, "file?path=files/a/b.txt")
        #expect(try await bed.page.call(.get, "files?prefix=files/a")["files"] == [])
        await bed.stop()
    }

    @Test func `A project without buckets has no files, and gets them with a bucket`() async throws {
        let supabase = try await LocalSupabase.onSharedPostgres()
        let page = try PageBed([try await .local(supabase)], backend: "supabase")
        #expect(try await page.call(.get, "files")["folders"] == [])
        _ = try await supabase.database.run([
            PostgresStatement("insert into storage.buckets (id, name) values ('photos', 'photos')")
        ])
        #expect(try await page.call(.get, "files")["folders"] == ["photos/"])
        #expect(try await page.call(.get, "collections")["collections"]?.array != nil)
        await page.stop()
        await supabase.stop()
    }

    @Test func `A reset leaves tables, policies and rules`() async throws {
        let bed = try await Bed()
        let events = try await bed.page.events()
        try await bed.page.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        try await bed.page.call(.post, "accounts", ["email": "a@example.com", "password": "123456"])
        try await bed.page.call(.post, "watch", ["watch": "w", "collection": "notes"])
        try await events.first("data", "the document") { $0["documents"]?.array?.count == 1 }
        try await bed.page.call(.post, "reset")
        try await events.first("reset", "the reset")
        #expect(try await bed.page.call(.post, "count", ["collection": "notes"])["count"] == 0)
        #expect(try await bed.page.call(.post, "count", ["collection": "orders"])["count"] == 0)
        #expect(try await bed.page.call(.get, "accounts")["accounts"] == [])
        try await eventually("whoever watches sees it", within: .seconds(30)) {
            events.named("data").last?["documents"] == []
        }
        try await bed.page.call(
            .post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1], "as": ["user": "alice"]])
        #expect(try await bed.page.call(.post, "count", ["collection": "notes"])["count"] == 1)
        await bed.stop()
    }

    @Test func `Deaf realtime reaches no client, and the page sees what happens`() async throws {
        let bed = try await Bed()
        try await bed.page.call(.post, "faults/deaf", ["on": true])
        #expect(try await bed.page.call(.get, "faults")["isDeaf"] == true)
        #expect(bed.supabase.isDeaf)
        try await bed.page.call(.delete, "faults")
        #expect(!bed.supabase.isDeaf)
        await bed.stop()
    }
}

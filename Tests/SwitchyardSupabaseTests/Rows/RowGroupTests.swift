import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Writes to several rows in one request.
struct RowGroupTests {
    private static let a = "11111111-1111-4111-8111-111111111111"
    private static let b = "22222222-2222-4222-8222-222222222222"

    private static func group(_ writes: [DocumentWrite]) throws -> RowGroup? {
        let tables = try TableMappings(TablesSite.mappings, usesDocuments: false)
        let places = try writes.map { try #require(try tables.place(of: $0.path.collection)) }
        return try RowGroup(writes, in: places, RowShape(places[0].table))
    }

    private static func path(_ id: String, _ table: String = "todos") -> StoragePath {
        StoragePath(unchecked: "\(table)/\(id)")
    }

    @Test func `Sets, creations and deletions in one table are one request`() throws {
        let (a, b) = (Self.path(Self.a), Self.path(Self.b))
        #expect(try Self.group([.set(a, ["title": "A"]), .set(b, ["title": "B", "n": 2])])?.kind == .sets)
        #expect(try Self.group([.create(a, ["title": "A"]), .create(b, ["title": "B"])])?.kind == .creations)
        #expect(try Self.group([.delete(a), .delete(b)])?.kind == .deletions)
    }

    @Test func `What one request cannot say is no group`() throws {
        let (a, b, list) = (Self.path(Self.a), Self.path(Self.b), Self.path(Self.b, "lists"))
        #expect(try Self.group([.set(a, ["title": "A"]), .delete(b)])?.kind == nil)
        #expect(try Self.group([.set(a, ["title": "A"]), .set(list, ["name": "B"])])?.kind == nil)
        #expect(try Self.group([.set(a, ["title": "A"]), .set(a, ["title": "B"])])?.kind == nil)
        let existing = DocumentWrite(path: b, operation: .delete, precondition: .exists(true))
        #expect(try Self.group([.delete(a), existing])?.kind == nil)
    }

    @Test func `Updates and what depends on the row are no group`() throws {
        let (a, b) = (Self.path(Self.a), Self.path(Self.b))
        #expect(try Self.group([.update(a, ["title": "A"]), .update(b, ["title": "B"])])?.kind == nil)
        #expect(try Self.group([.set(a, ["n": .increment(1)]), .set(b, ["n": .increment(1)])])?.kind == nil)
    }

    @Test func `Deletions are one request as long as their keys fit into its address`() throws {
        func deletions(_ count: Int) -> [DocumentWrite] {
            (0..<count).map { _ in .delete(Self.path(UUID().uuidString.lowercased())) }
        }
        #expect(try Self.group(deletions(RowGroup.maximumDeletions))?.entries.count == RowGroup.maximumDeletions)
        #expect(try Self.group(deletions(RowGroup.maximumDeletions + 10)) == nil)
        var group = try #require(try Self.group(deletions(150)))
        let more = try #require(try Self.group(deletions(50)))
        #expect(!group.add(more) && group.entries.count == 150)
        let few = try #require(try Self.group(deletions(30)))
        #expect(group.add(few) && group.entries.count == 180)
        // With the slack that is left to it, the whole address stays within what gateways take.
        let whole = try #require(try Self.group(deletions(RowGroup.maximumDeletions)))
        let length = RowCondition.length(whole.conditions(asSent: false))
        #expect(length <= RowGroup.maximumKeys && RowGroup.maximumKeys <= 8_192 - 600)
    }

    @Test func `A plain word stands in a list without quotation marks`() {
        let list = RowCondition.test("a", "in", .list(["x-1_Y", "", "a,b", "é", "1.5", "q\"", "null"]))
        #expect(RowCondition.parameters([list]).first?.value == #"in.(x-1_Y,"","a,b","é","1.5","q\"",null)"#)
    }

    @Test func `A repeated deletion names the version that each row had`() throws {
        let tables = try TableMappings(TablesSite.mappings, usesDocuments: false)
        let place = try #require(try tables.place(of: CollectionPath("todos")))
        let shape = RowShape(place.table)
        let group = try #require(
            try RowGroup(
                [.delete(Self.path(Self.a)), .delete(Self.path(Self.b))], [shape.tag("7"), nil], in: [place, place],
                shape))
        let first = RowCondition.parameters(group.conditions(asSent: false))
        #expect(first.map(\.name) == ["id"] && first[0].value == "in.(\(Self.a),\(Self.b))")
        let repeated = RowCondition.parameters(group.conditions(asSent: true))
        #expect(repeated.map(\.name) == ["or"])
        #expect(
            repeated[0].value
                == "(and(id.eq.\"\(Self.a)\",xmin.eq.\"7\"),and(id.eq.\"\(Self.b)\"))")
    }
}

/// The same on a service without functions.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SharedRowRequestTests {
    /// Counts the requests that write to a table.
    private final class Requests: Sendable {
        private let counted = Mutex(0)
        var count: Int { counted.withLock { $0 } }

        init(to supabase: LocalSupabase) {
            supabase.faults.add(.dropAnswer(), times: nil) { [weak self] request in
                if request.method != .get, request.rawPath.hasPrefix("/rest/v1/todos") {
                    self?.counted.withLock { $0 += 1 }
                }
                return false
            }
        }
    }

    /// - Parameter clock: A hurried one for writes that wait until a lost one can no longer take effect: ten seconds.
    private func withStorage(
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: (any StorageClient, TablesSite, Requests) async throws -> Void
    ) async throws {
        let site = try await TablesSite()
        let requests = Requests(to: site.supabase)
        let storage = try await site.storage(TablesSite.mappings, clock: clock)
        try await body(storage, site, requests)
        await storage.shutDown()
        await site.supabase.stop()
    }

    private static func names(_ count: Int) -> [StoragePath] {
        (0..<count).map { _ in StoragePath(unchecked: "todos/\(UUID().uuidString)") }
    }

    /// Queues all writes before any is sent.
    private func queue(_ writes: [DocumentWrite], on client: any StorageClient) async throws -> [WriteReceipt] {
        try await client.disableNetwork()
        var receipts: [WriteReceipt] = []
        for write in writes { receipts.append(try await client.commit(WriteBatch([write]))) }
        try await client.enableNetwork()
        return receipts
    }

    @Test func `Rows that wait share a request, also where some fields are missing`() async throws {
        try await withStorage { storage, site, requests in
            let names = Self.names(40)
            let writes = try names.enumerated().map { number, path in
                try DocumentWrite.set(path, number % 2 == 0 ? ["title": "T", "n": .of(number)] : ["title": "T"])
            }
            for receipt in try await queue(writes, on: storage) { try await receipt.acknowledged() }
            #expect(try await site.text("select count(*) || ' ' || sum(n) from public.todos") == "40 380")
            #expect(requests.count <= 4)
            // The versions came back with the answer.
            let shown = try await storage.document(names[2], from: .cache)
            let again = try await storage.document(names[2], from: .server)
            #expect(again.updateTime == shown.updateTime && again["n"] == 2)
            for receipt in try await queue(names.map { .delete($0) }, on: storage) { try await receipt.acknowledged() }
            #expect(try await site.text("select count(*) from public.todos") == "0")
            #expect(requests.count <= 8)
        }
    }

    @Test func `Only the row that a policy forbids is refused`() async throws {
        try await withStorage { storage, site, requests in
            var names = Self.names(6)
            names[3] = StoragePath(unchecked: "lists/\(UUID().uuidString)")
            let writes = try names.map { path in
                path.collection.id == "lists"
                    ? try DocumentWrite.set(path, ["owner": .of(TablesSite.bob), "name": "Bob's"])
                    : try .set(path, ["title": "T"])
            }
            let lists = try (0..<5).map { number in
                try DocumentWrite.set(
                    StoragePath(unchecked: "lists/\(UUID().uuidString)"),
                    ["owner": .of(number == 2 ? TablesSite.bob : TablesSite.alice), "name": .of("L\(number)")])
            }
            let receipts = try await queue(writes + lists, on: storage)
            for (index, receipt) in receipts.enumerated() where index != 3 && index != 8 {
                try await receipt.acknowledged()
            }
            for index in [3, 8] {
                let refusal = await #expect(throws: StorageError.self) { try await receipts[index].acknowledged() }
                #expect(refusal?.code == .unauthorized)
            }
            #expect(try await site.text("select count(*) from public.todos") == "5")
            #expect(
                try await site.text("select string_agg(name, ' ' order by name) from public.lists") == "L0 L1 L3 L4")
        }
    }

    @Test func `A batch of rows of one table takes effect as a whole or not at all`() async throws {
        try await withStorage { storage, site, requests in
            let names = Self.names(5)
            try await storage.commit(
                WriteBatch(try names.prefix(3).map { try .create($0, ["title": "A"]) })
            ).acknowledged()
            #expect(requests.count == 1)
            let taken = await #expect(throws: StorageError.self) {
                try await storage.commit(WriteBatch(try names.suffix(3).map { try .create($0, ["title": "B"]) }))
                    .acknowledged()
            }
            #expect(taken?.code == .alreadyExists && taken?.message.contains(names[2].id.lowercased()) == true)
            #expect(try await site.text("select string_agg(title, '') from public.todos") == "AAA")
            try await storage.commit(WriteBatch(try names.map { try .set($0, ["title": "C"]) })).acknowledged()
            #expect(try await site.text("select string_agg(title, '') from public.todos") == "CCCCC")
            try await storage.commit(WriteBatch(names.map { .delete($0) })).acknowledged()
            #expect(try await site.text("select count(*) from public.todos") == "0")
            let mixed = await #expect(throws: StorageError.self) {
                try await storage.commit(
                    WriteBatch([try .set(names[0], ["title": "D"]), try .update(names[1], ["title": "D"])])
                ).acknowledged()
            }
            #expect(
                mixed?.code == .unsupported
                    && mixed?.message.contains("only sets, creations or deletions of one collection") == true)
            #expect(try await site.text("select count(*) from public.todos") == "0")
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `As many deletions as fit are one request, and more are refused before they are queued`() async throws {
        try await withStorage { storage, site, requests in
            let most = try #require(storage.capabilities.maximumDeletions)
            let names = Self.names(most + 110)
            try await storage.commit(WriteBatch(try names.map { try .set($0, ["title": "T"]) })).acknowledged()
            let before = requests.count
            let many = await #expect(throws: StorageError.self) {
                try await storage.commit(WriteBatch(names.map { .delete($0) }))
            }
            #expect(many?.code == .unsupported && many?.message.contains("up to \(most) rows") == true)
            for try await pending in storage.pendingWrites() {
                #expect(pending.isEmpty && requests.count == before)
                break
            }
            try await storage.commit(WriteBatch(names.prefix(most).map { .delete($0) })).acknowledged()
            #expect(requests.count == before + 1)
            #expect(try await site.text("select count(*) from public.todos") == "110")
        }
    }

    @Test func `Short keys leave room for as many deletions as a batch may have`() async throws {
        let site = try await TablesSite()
        try await site.run(
            """
            create table public.numbers (id bigint primary key, title text);
            grant all on public.numbers to authenticated;
            insert into public.numbers select n, 'T' from generate_series(1, 600) n;
            """)
        let storage = try await site.storage([
            SupabaseTableMapping(collection: "numbers", table: "numbers", columns: ["title"])
        ])
        let names = (1...500).map { StoragePath(unchecked: "numbers/\($0)") }
        try await storage.commit(WriteBatch(names.map { .delete($0) })).acknowledged()
        #expect(try await site.text("select count(*) from public.numbers") == "100")
        await storage.shutDown()
        await site.supabase.stop()
    }

    @Test(arguments: LostAnswerTests.Loss.allCases)
    func `Many deletions whose answer was lost spare a row that was made again`(_ loss: LostAnswerTests.Loss)
        async throws
    {
        try await withStorage(clock: HurriedClock(factor: 20)) { storage, site, requests in
            let names = Self.names(RowGroup.maximumDeletions)
            for start in stride(from: 0, to: names.count, by: 10) {
                let some = names[start..<min(start + 10, names.count)]
                try await storage.commit(WriteBatch(try some.map { try .set($0, ["title": "T"]) })).acknowledged()
            }
            // The first deletion that takes effect is followed at once by somebody who makes one of the rows again.
            try await site.run(
                """
                create table public.remade (id uuid);
                create function public.remake() returns trigger language plpgsql security definer as $$ begin
                  if not exists (select from public.remade) then
                    insert into public.remade values ('\(names[7].id)');
                    insert into public.todos (id, owner, title) values ('\(names[7].id)', '\(TablesSite.alice)', 'New');
                  end if;
                  return null;
                end $$;
                create trigger remake after delete on public.todos for each statement execute function public.remake();
                """)
            site.supabase.faults.add(loss.fault, times: 1) {
                $0.method == .delete && $0.rawPath.hasPrefix("/rest/v1/todos")
            }
            try await storage.commit(WriteBatch(names.map { .delete($0) })).acknowledged()
            #expect(try await site.text("select string_agg(title, ' ') from public.todos") == "New")
        }
    }

    @Test func `Sets of rows that have their own keys below a parent are one batch, and take no other parent's row`()
        async throws
    {
        let site = try await TablesSite()
        let requests = Requests(to: site.supabase)
        var mapping = SupabaseTableMapping(collection: "lists/{list}/todos", table: "todos", columns: ["title", "n"])
        mapping.uuidColumns = ["id", "list"]
        let storage = try await site.storage(TablesSite.mappings.filter { $0.collection == "lists" } + [mapping])
        let lists = (0..<2).map { _ in StoragePath(unchecked: "lists/\(UUID().uuidString.lowercased())") }
        for list in lists {
            try await storage.setDocument(list, ["owner": .of(TablesSite.alice), "name": "L"]).acknowledged()
        }
        let names = (0..<130).map { _ in UUID().uuidString.lowercased() }
        func sets(_ names: some Sequence<String>, in list: StoragePath, _ title: String) throws -> WriteBatch {
            WriteBatch(try names.map { try .set(list.collection("todos").document($0), ["title": .of(title)]) })
        }
        func titles() async throws -> String? {
            try await site.text(
                "select string_agg(distinct title || ' ' || (list = '\(lists[0].id)'), ', ') || ' ' || count(*) from public.todos"
            )
        }
        try await storage.commit(try sets(names.prefix(120), in: lists[0], "A")).acknowledged()
        #expect(try await titles() == "A true 120")
        let before = requests.count
        try await storage.commit(try sets(names, in: lists[0], "B")).acknowledged()
        #expect(requests.count == before + 1)
        #expect(try await titles() == "B true 130")
        let other = await #expect(throws: StorageError.self) {
            try await storage.commit(try sets([UUID().uuidString.lowercased(), names[125]], in: lists[1], "C"))
                .acknowledged()
        }
        #expect(other?.code == .alreadyExists && other?.message.contains(names[125]) == true)
        #expect(try await titles() == "B true 130")
        await storage.shutDown()
        await site.supabase.stop()
    }

    @Test(arguments: LostAnswerTests.Loss.allCases)
    func `Rows whose shared answer was lost are written once, and a creation does not find itself`(
        _ loss: LostAnswerTests.Loss
    ) async throws {
        try await withStorage(clock: HurriedClock(factor: 20)) { storage, site, requests in
            site.supabase.faults.add(loss.fault, times: 1) {
                $0.method == .post && $0.rawPath.hasPrefix("/rest/v1/todos")
            }
            let names = Self.names(12)
            let receipts = try await queue(try names.map { try .create($0, ["title": "T"]) }, on: storage)
            for receipt in receipts { try await receipt.acknowledged() }
            #expect(try await site.text("select count(*) from public.todos") == "12")
            #expect(try await storage.documents(Query(in: "todos"), from: .server).documents.count == 12)
        }
    }
}

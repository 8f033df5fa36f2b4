import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Rows that have come into the table by another way than this package's, on a real PostgreSQL.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SpoiledDocumentTests {
    private static func collection() -> CollectionPath { CollectionPath(unchecked: "spoiled-\(RandomID.make())") }

    /// Puts rows beside a document, for whoever may read that one.
    private static func insert(
        _ rows: [(id: String, data: String)], beside path: StoragePath, _ site: SupabaseSite
    ) async throws {
        for row in rows {
            try await site.postgres.query(
                """
                insert into switchyard.documents (path, data, owner, created_at, updated_at)
                select :'path', (:'data')::jsonb, owner, now(), now() from switchyard.documents where path = :'beside';
                """,
                ["path": "\(path.collection.rawValue)/\(row.id)", "data": row.data, "beside": path.rawValue])
        }
    }

    @Test func `What has no known form is read as it stands, and spoils no query and no listener`() async throws {
        let site = try await SupabaseSite.shared.value
        let client = SyncedStorageClient(
            driver: SupabaseDriver(
                service: try site.service(), pace: SupabaseWatch.Pace(alone: .milliseconds(20))))
        let (odd, other) = (Self.collection(), Self.collection())
        let known = odd.document("m")
        _ = try await client.setDocument(known, ["number": 2]).acknowledged()
        try await Self.insert(
            [
                ("a", #"{"number": 1, "x": {"$zz": 1}, "t": {"$ts": "soon"}, "g": {"$geo": [500, 0]}}"#),
                ("__x__", #"{"number": 1}"#),
                ("z", #"{"number": 1e-400}"#),
            ], beside: known, site)
        let query = Query(in: odd).ordered(by: "number")
        let found = try await client.documents(query, from: .server).documents
        #expect(found.map(\.id) == ["z", "a", "m"])
        #expect(found[1]["x"] == ["$zz": 1])
        #expect(found[1]["t"] == ["$ts": "soon"])

        let shown = Newest(client.snapshots(of: query))
        let apart = Newest(client.snapshots(of: Query(in: other)))
        try await eventually("the odd ones are shown") { shown.snapshot?.documents.map(\.id) == ["z", "a", "m"] }
        try await eventually("the others are") { apart.snapshot?.metadata.isFromCache == false }
        _ = try await client.setDocument(other.document("n"), ["number": 1]).acknowledged()
        try await eventually("a later write is shown") { apart.snapshot?.documents.map(\.id) == ["n"] }
        shown.leave()
        apart.leave()
        await client.shutDown()
    }

    @Test func `A number beyond every double is read as the infinity that it is sorted as, and spoils nothing`()
        async throws
    {
        let site = try await SupabaseSite.shared.value
        let client = SyncedStorageClient(
            driver: SupabaseDriver(
                service: try site.service(), pace: SupabaseWatch.Pace(alone: .milliseconds(20))))
        let collection = Self.collection()
        _ = try await client.setDocument(collection.document("m"), ["number": 2]).acknowledged()
        try await Self.insert(
            [
                ("huge", #"{"number": 1e400, "list": [-1e400, {"$vec": [1, 1e309]}]}"#),
                ("largest", #"{"number": 1.7976931348623157e308}"#), ("low", #"{"number": -1e400}"#),
            ], beside: collection.document("m"), site)
        let query = Query(in: collection).ordered(by: "number")
        let found = try await client.documents(query, from: .server).documents
        #expect(found.map(\.id) == ["low", "m", "largest", "huge"])
        #expect(
            found.map { $0["number"] } == [
                .double(-.infinity), 2, .double(.greatestFiniteMagnitude), .double(.infinity),
            ])
        #expect(found.last?["list"] == [.double(-.infinity), .vector([1, .infinity])])
        let shown = Newest(client.snapshots(of: query))
        try await eventually("all are shown") { shown.snapshot?.documents.count == 4 }
        #expect(try await client.count(Query(in: collection).where("number", .equal, .double(.infinity))) == 1)
        // Writing elsewhere in it is refused for good, which says why; replacing the number mends it.
        let huge = collection.document("huge")
        _ = try await client.setDocument(huge, ["number": 7]).acknowledged()
        try await eventually("it is mended") { shown.snapshot?.documents.map(\.id) == ["low", "m", "huge", "largest"] }
        shown.leave()
        await client.shutDown()
    }

    @Test func `A numeric or json column with a number beyond every double spoils no other row`() async throws {
        let site = try await SupabaseSite()
        try await site.postgres.query(
            """
            create table public.prices (id text primary key, price numeric, info json);
            grant all on public.prices to authenticated;
            insert into public.prices values ('a', 1.25, '{"x": -1e400}'), ('b', 1e400, null), ('c', 'NaN', null), ('d', null, null);
            """)
        let mapping = SupabaseTableMapping(collection: "prices", table: "prices", columns: ["price", "info"])
        let client = SyncedStorageClient(
            driver: SupabaseDriver(
                service: try site.service(), tables: try TableMappings([mapping]),
                pace: SupabaseWatch.Pace(alone: .milliseconds(20))))
        let found = try await client.documents(Query(in: "prices"), from: .server).documents
        #expect(found.map { $0["price"] } == [1.25, .double(.infinity), .double(.nan), nil])
        #expect(found[0]["info"]?.mapValue?["x"] == .double(-.infinity))
        let shown = Newest(client.snapshots(of: Query(in: "prices")))
        try await eventually("all are shown") { shown.snapshot?.documents.count == 4 }
        shown.leave()
        await client.shutDown()
        await site.stop()
    }

    @Test(arguments: ["infinity", "-infinity", "0044-03-15 BC", "20000-01-01"])
    func `A row of a time that no one can write spoils no query, no listener and no later one`(
        _ time: String
    ) async throws {
        let site = try await SupabaseSite()
        try await site.postgres.query(TableHarness.sql)
        let client = SyncedStorageClient(
            driver: SupabaseDriver(
                service: try site.service(), tables: try TableHarness.mixedTables(),
                pace: SupabaseWatch.Pace(alone: .milliseconds(20))))
        try await site.postgres.query(
            """
            insert into public.items (parent, id, number, created_at, changed_at)
              values ('x', 'odd', 1, :'time', :'time'), ('x', 'plain', 2, now(), now());
            set session_replication_role = replica;
            insert into switchyard.documents (path, data, owner, created_at, updated_at)
              values ('odd/odd', '{"number": 1}', 'tester', :'time', :'time'),
                     ('odd/plain', '{"number": 2}', 'tester', now(), now());
            """, ["time": time])
        for items: CollectionPath in ["conformance/x/items", "odd"] {
            let query = Query(in: items).ordered(by: "number")
            #expect(try await client.documents(query, from: .server).documents.map(\.id) == ["odd", "plain"])
            let shown = Newest(client.snapshots(of: query))
            try await eventually("both are shown") { shown.snapshot?.documents.map(\.id) == ["odd", "plain"] }
            let path = items.document("later")
            _ = try await client.setDocument(path, ["number": 3]).acknowledged()
            try await eventually("a later one is shown") { shown.snapshot?.documents.count == 3 }
            _ = try await client.deleteDocument(path).acknowledged()
            try await eventually("and its end") { shown.snapshot?.documents.count == 2 }
            _ = try await client.setDocument(path, ["number": 4]).acknowledged()
            try await eventually("it comes back") { shown.snapshot?.documents.last?["number"] == 4 }
            _ = try await client.updateDocument(items.document("odd"), ["number": 0]).acknowledged()
            try await eventually("the odd one is written to") { shown.snapshot?.documents.first?["number"] == 0 }
            shown.leave()
        }
        await client.shutDown()
        await site.stop()
    }

    /// The names of six documents, between others that no document can have.
    private static let names = [".", "..", "A", "B", "C", "__1__", "__2__", "__3__", "a", "b", "c"]

    @Test(arguments: [1, 2, 3, 5, 100])
    func `Rows with names that no document can have end no page and no scan`(_ size: Int) async throws {
        let site = try await SupabaseSite.shared.value
        let collection = Self.collection()
        let driver = SupabaseDriver(service: try site.service())
        let client = SyncedStorageClient(driver: driver)
        let known = collection.document("A")
        _ = try await client.setDocument(known, ["n": 1]).acknowledged()
        try await Self.insert(Self.names.filter { $0 != "A" }.map { ($0, #"{"n": 1}"#) }, beside: known, site)
        let ids = ["A", "B", "C", "a", "b", "c"]
        let direct = DirectStorageClient(SupabaseDriver(service: try site.service()))
        for client in [client, direct] as [any StorageClient] {
            var found: [[String]] = []
            for try await page in client.pages(of: Query(in: collection), size: size, from: .server) {
                found.append(page.documents.map(\.id))
            }
            #expect(found.flatMap(\.self) == ids)
            #expect(found.allSatisfy { !$0.isEmpty && $0.count <= size })
            var behind: [String] = []
            let query = Query(in: collection).ordered(by: "n").skipping(4).limited(to: 3)
            for try await page in client.pages(of: query, size: size, from: .server) {
                behind += page.documents.map(\.id)
            }
            #expect(behind == ["b", "c"])
            let seen = Mutex<[String]>([])
            try await client.forEachDocument(Query(in: collection), pageSize: size) { document in
                seen.withLock { $0.append(document.id) }
            }
            #expect(seen.withLock { $0 } == ids)
        }
        await client.shutDown()
    }

    @Test func `A count of rows with impossible names makes no client ask for everything again`() throws {
        var changes = WatchedChanges()
        let query = Query(in: "spoiled")
        _ = changes.take(.add(TargetRequest(id: 2, target: .query(query))))
        func document(_ path: String) -> JSON {
            let time: JSON = "2026-01-01T00:00:00Z"
            return ["path": .string(path), "data": [:], "created": time, "updated": time]
        }
        func answer(_ target: JSONObject) -> JSON {
            var target = target
            target["id"] = 2
            return ["token": "1:5", "readTime": "2026-01-01T00:00:00Z", "targets": [.object(target)]]
        }
        func counts(_ target: JSONObject) throws -> [Int] {
            let asked = changes.inquiry(recounts: true)
            let inquiry = try #require(asked)
            var counts: [Int] = []
            for event in try changes.take(answer(target), to: inquiry) {
                if case .filter(_, let count, _) = event { counts.append(count) }
            }
            return counts
        }
        let whole: JSONObject = [
            "reset": true, "documents": [document("spoiled/a"), document("spoiled/__x__"), document("spoiled/..")],
        ]
        #expect(try counts(whole).isEmpty)
        #expect(try counts(["documents": [], "count": 3]) == [1])
        #expect(try counts(["documents": [document("spoiled/__y__")], "count": 4]) == [1])
        #expect(try counts(["documents": [], "left": ["spoiled/__x__"], "count": 3]) == [1])
    }

    private static let deep = String(repeating: #"{"a":"#, count: 250) + "1" + String(repeating: "}", count: 250)

    @Test(arguments: [
        ("a/..", "{}"), ("a/__x__", "{}"), ("a/__id07__", "{}"), ("a", "{}"),
        (Array(repeating: "a", count: 102).joined(separator: "/"), "{}"), ("deep/a", deep),
    ])
    func `What no client could name or read is refused`(_ path: String, _ data: String) async throws {
        let service = try await SupabaseSite.shared.value.service()
        let write: JSON = ["op": "set", "path": .string(path), "data": try JSON(parsing: data)]
        var failure: StorageError?
        do throws(StorageError) {
            _ = try await service.send(
                "switchyard_commit", ["batch": .string(RandomID.make()), "writes": .array([write])],
                isIdempotent: false)
        } catch {
            failure = error
        }
        #expect((failure?.underlying as? PostgRESTFailure)?.code == "22023")
    }

    @Test(arguments: [("1e308", true), ("-1e400", false)])
    func `A number that no reader has room for is refused`(_ number: String, _ isTaken: Bool) async throws {
        let postgres = try await SupabaseSite.shared.value.postgres
        let writes = #"[{"op":"set","path":"numbers/\#(RandomID.make())","data":{"a":[{"b":\#(number)}]}}]"#
        let call = {
            try await postgres.query(
                "select public.switchyard_commit(:'batch', :'writes');", ["batch": RandomID.make(), "writes": writes])
        }
        if isTaken { _ = try await call() } else { await #expect(throws: (any Error).self) { try await call() } }
    }

    @Test func `Names that documents can have are taken`() async throws {
        let service = try await SupabaseSite.shared.value.service()
        let client = SyncedStorageClient(driver: SupabaseDriver(service: service))
        for id in ["__id7__", "__id-7__", "__id0__", "...", "_x_", "ü 🎭"] {
            _ = try await client.setDocument(Self.collection().document(id), ["n": 1]).acknowledged()
        }
        await client.shutDown()
    }
}

/// What a stream shows last.
private final class Newest: Sendable {
    private let state = Mutex<QuerySnapshot?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ stream: SnapshotStream<QuerySnapshot, StorageError>) {
        let watching = Task { [weak self] in
            do { for try await snapshot in stream { self?.state.withLock { $0 = snapshot } } } catch {}
        }
        task.withLock { $0 = watching }
    }

    var snapshot: QuerySnapshot? { state.withLock { $0 } }
    func leave() { task.withLock { $0?.cancel() } }
}

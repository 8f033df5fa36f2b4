import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Tables whose keys the database counts up. See `OfflineAdditionTests` for rows that are added offline.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct GeneratedKeyTests {
    private struct Task: Codable, Equatable {
        @DocumentID var id: Int
        var title: String
        var n = 0
    }

    private static func mapping(witness: String?) -> SupabaseTableMapping {
        var mapping = SupabaseTableMapping(collection: "tasks", table: "tasks", columns: ["title", "n"])
        mapping.generatesIDs = true
        mapping.witnessColumn = witness
        return mapping
    }

    private func withStorage(
        witness: String? = nil, _ body: (any StorageClient, TablesSite) async throws -> Void
    ) async throws {
        let site = try await TablesSite()
        try await site.run(
            """
            create table public.tasks (
              id bigint generated always as identity (start with 41), title text not null unique, n int not null default 0,
              token uuid unique, primary key (id));
            grant all on public.tasks to authenticated;
            """)
        let storage = try await site.storage([Self.mapping(witness: witness)])
        try await body(storage, site)
        await storage.shutDown()
        await site.supabase.stop()
    }

    @Test func `An added document has the key that the database made`() async throws {
        try await withStorage { storage, site in
            let tasks = storage.collection("tasks", of: Task.self)
            let (document, receipt) = try await tasks.addWithReceipt(Task(id: DocumentID(0), title: "Milk"))
            #expect(document.path == "tasks/41" && receipt.added == "tasks/41")
            try await receipt.acknowledged()
            #expect(try await document.get(from: .server) == Task(id: DocumentID(41), title: "Milk"))
            #expect(try await storage.addDocument(to: "tasks", ["title": "Bread", "n": .increment(2)]) == "tasks/42")
            #expect(try await storage.collection("tasks").add(["title": "Eggs"]).path == "tasks/43")
            #expect(
                try await site.text("select string_agg(title || n, ' ' order by id) from public.tasks")
                    == "Milk0 Bread2 Eggs0")
            // From then on it is a document like others, also offline.
            try await storage.disableNetwork()
            try await document.update(["n": 7])
            try await storage.enableNetwork()
            try await storage.waitForPendingWrites()
            #expect(try await site.text("select n from public.tasks where id = 41") == "7")
        }
    }

    @Test func `Live queries show an added document once, under its key`() async throws {
        try await withStorage { storage, _ in
            let seen = AsyncStream<[String]>.makeStream()
            let stream = _Concurrency.Task {
                for try await snapshot in storage.snapshots(of: Query(in: "tasks")) {
                    seen.continuation.yield(snapshot.documents.map(\.id))
                }
            }
            var names = seen.stream.makeAsyncIterator()
            #expect(await names.next() == [])
            try await storage.addDocument(to: "tasks", ["title": "Milk"])
            #expect(await names.next() == ["41"])
            stream.cancel()
        }
    }

    @Test func `Without a connection nothing is queued, and the error says why`() async throws {
        try await withStorage { storage, site in
            try await storage.disableNetwork()
            let refusal = await #expect(throws: StorageError.self) {
                try await storage.addDocument(to: "tasks", ["title": "Milk"])
            }
            #expect(refusal?.code == .unavailable)
            #expect(try await storage.pendingWrites().first { _ in true }?.isEmpty == true)
            try await storage.enableNetwork()
            let provisional = storage.newDocument(in: "tasks")
            let update = await #expect(throws: StorageError.self) {
                try await storage.updateDocument(provisional, ["title": "Milk"])
            }
            #expect(update?.code == .invalidArgument && update?.message.contains("no key yet") == true)
            for first in [provisional, "tasks/7"] {
                let batch = await #expect(throws: StorageError.self) {
                    try await storage.commit(
                        WriteBatch([
                            .create(first, ["title": "Milk"]),
                            .create(storage.newDocument(in: "tasks"), ["title": "Bread"]),
                        ]))
                }
                #expect(batch?.code == .unsupported)
            }
            #expect(try await site.text("select count(*) from public.tasks") == "0")
        }
    }

    @Test(arguments: LostAnswerTests.Loss.allCases)
    func `With a witness a lost answer neither loses nor doubles the row`(_ loss: LostAnswerTests.Loss) async throws {
        try await withStorage(witness: "token") { storage, site in
            site.supabase.faults.add(loss.fault, times: 1) {
                $0.method == .post && $0.rawPath.hasPrefix("/rest/v1/tasks")
            }
            let (document, receipt) = try await storage.collection("tasks").addWithReceipt(["title": "Milk"])
            let path = try #require(try await receipt.acknowledged().added)
            #expect(document.path != path && receipt.added == nil)
            #expect(try await site.text("select string_agg('tasks/' || id, ' ') from public.tasks") == path.rawValue)
            let taken = await #expect(throws: StorageError.self) {
                try await storage.collection("tasks").addWithReceipt(["title": "Milk"]).receipt.acknowledged()
            }
            #expect(taken?.code == .failedPrecondition && taken?.message.contains("title") == true)
        }
    }

    @Test func `Without a witness a lost answer is reported as that`() async throws {
        try await withStorage { storage, site in
            site.supabase.faults.add(LostAnswerTests.Loss.connection.fault, times: 1) {
                $0.method == .post && $0.rawPath.hasPrefix("/rest/v1/tasks")
            }
            let lost = await #expect(throws: StorageError.self) {
                try await storage.addDocument(to: "tasks", ["title": "Milk"])
            }
            #expect(lost?.code == .unavailable && lost?.isRetryable == false)
            #expect(lost?.message.contains("not known whether the row was added") == true)
            #expect(lost?.message.contains("witnessColumn") == true)
            let count = try await site.text("select count(*) from public.tasks")
            #expect(count == "1")
        }
    }

    @Test func `A local key is a number that no table counts to, and only a row with a witness waits under one`() throws
    {
        for (witness, type, waits) in [
            ("token", nil, true), (nil, nil, false), ("token", .uuid, false), ("token", .text, true),
        ]
            as [(String?, SupabaseColumnType?, Bool)]
        {
            var mapping = Self.mapping(witness: witness)
            mapping.columnTypes["id"] = type
            let tables = try TableMappings([mapping], usesDocuments: false)
            let path = try #require(tables.newDocument(in: "tasks"))
            let number = try #require(Int64(path.id))
            #expect(number <= -(1 << 62) && String(number) == path.id)
            #expect(tables.isProvisional(path) && tables.isFound(path) == waits)
            for id in ["41", "-41", "0", "new", "-04611686018427387904", "\(Int64.min)0"] {
                #expect(!tables.isProvisional(CollectionPath("tasks").document(id)))
            }
            #expect(!tables.isProvisional(CollectionPath("others").document(path.id)))
        }
    }

    @Test func `The witness of a batch is a UUID that follows from its name`() {
        let (one, other) = (RowWitness(column: "token", ofBatch: "a"), RowWitness(column: "token", ofBatch: "b"))
        #expect(one == RowWitness(column: "token", ofBatch: "a") && one.value != other.value)
        for witness in [one, other] {
            #expect(UUID(uuidString: witness.value)?.uuidString.lowercased() == witness.value)
        }
    }

    @Test func `A write with a local key in it never reaches the database`() throws {
        var mapping = Self.mapping(witness: "token")
        mapping.references = ["n": "tasks"]
        let tables = try TableMappings([mapping])
        let local = try #require(tables.newDocument(in: "tasks"))
        let writes: [DocumentWrite] = [
            .delete(local), .delete(local.collection("notes").document("a")),
            try .set("notes/a", ["all": [.of(local)]]),
            try .update("tasks/1", ["n": .arrayUnion(.of(local))]),
        ]
        for write in writes {
            let refusal = #expect(throws: StorageError.self) { try tables.checkKeys([write]) }
            #expect(refusal?.isRefusal == true && refusal?.message.contains(local.rawValue) == true)
        }
        try tables.checkKeys([try .set(local, ["n": 1])], isAddition: true)
        try tables.checkKeys([.delete("tasks/1"), try .set("notes/a", ["task": .of("tasks/-5" as StoragePath)])])
    }

    @Test func `A witness needs generated keys, and a column of its own`() {
        var mapping = Self.mapping(witness: "title")
        #expect(throws: InfrastructureError.self) { try TableMappings([mapping]) }
        mapping.witnessColumn = "token"
        mapping.generatesIDs = false
        #expect(throws: InfrastructureError.self) { try TableMappings([mapping]) }
    }
}

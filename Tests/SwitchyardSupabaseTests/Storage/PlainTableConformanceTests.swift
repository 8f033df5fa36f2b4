import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Everything that the tables of a project do with nothing installed.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PlainTableConformanceTests {
    private static func run(_ key: PlainTableHarness.Key) -> ConformanceRun<any StorageHarness, StorageFeatures> {
        ConformanceRun(
            "supabase plain tables, \(key)", StorageConformance.all, for: PlainTableHarness.features(key),
            part: key == .text ? 2 : 4
        ) {
            PlainTableHarness(key: key, site: try await PlainTableHarness.site.value)
        }
    }

    static let text = run(.text)
    static let uuid = run(.uuid)
    static let identity = run(.identity)

    @Test(.beside(text), arguments: text.checks)
    func `Rows whose keys are text`(_ check: StorageCheck) async throws {
        try await Self.text.outcome(of: check)
    }

    @Test(.beside(uuid), arguments: uuid.checks)
    func `Rows whose keys are UUIDs`(_ check: StorageCheck) async throws {
        try await Self.uuid.outcome(of: check)
    }

    @Test(.beside(identity), arguments: identity.checks)
    func `Rows whose keys are numbers of the database`(_ check: StorageCheck) async throws {
        try await Self.identity.outcome(of: check)
    }

    @Test func `The database has nothing of this package`() async throws {
        let connection = try await PlainTableHarness.site.value.database.connect()
        defer { connection.close() }
        let found = try await connection.run(
            script: "select count(*) from pg_proc where proname like 'switchyard%'"
        ).first?.text
        #expect(found == "0")
    }

    @Test func `What takes functions is refused at once, and no function is ever asked for`() async throws {
        let site = try await LostRowSite()
        let calls = Mutex(0)
        site.supabase.faults.add(.delayAnswer(.zero), times: nil) { request in
            if request.rawPath.hasPrefix("/rest/v1/rpc/") { calls.withLock { $0 += 1 } }
            return false
        }
        let (a, b): (StoragePath, StoragePath) = ("conformance/one/items/a", "conformance/one/items/b")
        let mixture = await #expect(throws: StorageError.self) {
            try await site.client.commit(WriteBatch([.set(a, ["number": 1]), .delete(b)]))
        }
        #expect(
            mixture?.code == .unsupported
                && mixture?.message.contains("only sets, creations or deletions of one collection") == true)
        let twoRows = await #expect(throws: StorageError.self) {
            try await site.client.transaction { transaction in
                _ = try await transaction.documents([a, b])
                try await transaction.set(a, ["number": 1])
            }
        }
        #expect(twoRows?.code == .unsupported)
        try await site.client.setDocument(a, ["text": "a", "number": 1]).acknowledged()
        try await site.client.updateDocument(a, ["number": .increment(2)]).acknowledged()
        #expect(try await site.rows(of: "one") == "a=3")
        #expect(calls.withLock { $0 } == 0)
        await site.stop()
    }

    @Test(arguments: PlainTableHarness.Key.allCases)
    func `Names keep their order, and fit the key`(_ key: PlainTableHarness.Key) async throws {
        let harness = PlainTableHarness(key: key, site: try await PlainTableHarness.site.value)
        let names = ["0", "9z", "a", "a0", "ab", "b", "d10000", "d11199", "elsewhere", "z"]
        let ids = names.map { harness.documentID($0) }
        #expect(ids == ids.sorted() && Set(ids).count == names.count)
        let client = try await harness.makeStorageClient()
        let items = try await harness.collection("names", in: ConformanceNamespace())
        for id in ids.reversed() { try await client.setDocument(items.document(id), ["text": "x"]).acknowledged() }
        #expect(try await client.documents(Query(in: items), from: .server).documents.map(\.id) == ids)
        await client.shutDown()
    }

    @Test(arguments: PlainTableHarness.Key.allCases)
    func `Checks that plain tables skip`(_ key: PlainTableHarness.Key) {
        let features = PlainTableHarness.features(key)
        let leftOut = Set(StorageConformance.leftOut(for: features))
        let reasons = StorageConformance.all.filter { leftOut.contains($0.name) }.flatMap { $0.missing(in: features) }
        let names = Dictionary(reasons.map { ($0, 1) }, uniquingKeysWith: +)
        var expected = [
            // What only documents without columns can do.
            "open types": 114, "an open schema": 13, "lists of collections": 3, "recursive deletion": 1,
            // What takes the functions.
            "mixed batches": 10,
            // What this harness lacks.
            "a forbidden document": 2,
        ]
        if key != .text { expected["names of any kind"] = 1 }
        // The database makes the numbers.
        if key == .identity { expected["names that the client makes up"] = 1 }
        #expect(names == expected)
        #expect(leftOut.count == (key == .text ? 141 : key == .uuid ? 142 : 143))
    }
}

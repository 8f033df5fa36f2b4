import Switchyard
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// Documents from a server whose every answer may be damaged, late, somebody else's or missing.
@Suite struct FirestoreLieTests {
    @Test(.beside(liesRun))
    func `Lies about documents are errors, and an honest server is understood again`() async throws {
        try await Self.liesRun.value
    }

    private static let liesRun: SideRun<Int, Void> = SideRun { try await FirestoreLieTests().lies() }

    private func lies() async throws {
        var endpoints: Set<String> = []
        var lies: Set<LyingTransport.Lie> = []
        let site = try LocalSite()
        for transport in try await sideBySide(LyingRun.seeds(40), width: 2, { try await run($0, on: site) }) {
            endpoints.formUnion(transport.endpoints)
            lies.formUnion(transport.lies)
        }
        await site.firebase.stop()
        guard !LyingRun.isPart else { return }
        #expect(lies.count == LyingTransport.Lie.allCases.count)
        #expect(
            endpoints.isSuperset(of: [
                ":batchGet", ":runQuery", ":runAggregationQuery", ":commit", ":beginTransaction", ":rollback",
                "channel", "channel: on", "channel: back",
            ]), "\(endpoints.sorted())")
    }

    private func run(_ seed: UInt64, on site: LocalSite) async throws -> LyingTransport {
        var run = LyingRun(seed)
        var configuration = site.configuration
        configuration.locksInTransactions = seed.isMultiple(of: 2)
        let transport = run.transport
        let client = try await FirebaseModule(configuration, environment: [:]) { transport }
            .makeStorageClient(ModuleContext(clock: run.clock))
        let collection = CollectionPath(unchecked: "lies\(seed)")
        var followers: [Task<Void, Never>] = []
        for number in 0..<12 {
            let path = collection.document("d\(run.random.int(0..<4))")
            switch run.random.int(0..<9) {
            case 0:
                await run.call("a read") { () async throws(StorageError) in
                    _ = try await client.document(path, from: .server)
                }
            case 1:
                let paths = [path, collection.document("none")]
                await run.call("a read of two") { () async throws(StorageError) in
                    _ = try await client.documents(paths, from: .server)
                }
            case 2:
                await run.call("a query") { () async throws(StorageError) in
                    _ = try await client.documents(Query(in: collection), from: .server)
                }
            case 3:
                await run.call("a sum") { () async throws(StorageError) in
                    _ = try await client.aggregate(Query(in: collection), [.count, .sum("n")])
                }
            case 4, 5:
                await run.call("a write") { () async throws(StorageError) in
                    try await client.setDocument(path, ["n": .of(number), "text": .of(LyingRun.secret)]).acknowledged()
                }
            case 6:
                await run.call("a transaction") { () async throws(StorageError) in
                    try await client.transaction { transaction in
                        let before = try await transaction.document(path)["n"]?.integerValue ?? 0
                        try await transaction.set(path, ["n": .of(before + 1)])
                    }
                }
            case 7:
                followers.append(
                    Task { do { for try await _ in client.snapshots(of: path) {} } catch {} })
            default:
                followers.append(
                    Task { do { for try await _ in client.snapshots(of: Query(in: collection)) {} } catch {} })
            }
        }
        transport.becomeHonest()
        let truth = collection.document("truth")
        await run.call("an honest write") { () async throws(StorageError) in
            try await client.setDocument(truth, ["seed": .of(Int64(seed))]).acknowledged()
        }
        await run.call("an honest read") { () async throws(StorageError) in
            let seen = try await client.document(truth, from: .server)
            #expect(seen["seed"] == .integer(Int64(seed)), "seed \(seed)")
        }
        for follower in followers { follower.cancel() }
        await run.call("the end of streams") { [followers] () async throws(Never) in
            for follower in followers { await follower.value }
        }
        await run.call("the end") { () async throws(Never) in await client.shutDown() }
        return transport
    }
}

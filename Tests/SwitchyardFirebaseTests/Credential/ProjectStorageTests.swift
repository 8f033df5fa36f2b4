import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// Documents in the name of the project itself, on the real Firestore emulator and under rules that allow no one anything.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct ProjectStorageTests {
    private struct Harness: StorageHarness {
        static let features: StorageFeatures = {
            var capabilities = StorageCapabilities.all
            capabilities.offline = false
            return StorageFeatures(capabilities, queriesSeeWholeBatches: false)
        }()

        let site: FirestoreSite
        var features: StorageFeatures { Self.features }

        func makeStorageClient() async throws -> any StorageClient { try await ProjectStorageTests.client(of: site) }
    }

    private static func client(of site: FirestoreSite) async throws -> any StorageClient {
        let module = FirebaseModule(site.configuration, environment: [:]) { CurlTransport() }
        return try await module.makeServerClientFactory(ModuleContext()).makeProjectStorageClient()
    }

    private static func closedSite() async throws -> FirestoreSite {
        let site = try await FirestoreSite()
        try await site.setRules("match /{all=**} { allow read, write: if false; }")
        return site
    }

    private static let run = ConformanceRun(
        "firestore emulator for the project", StorageConformance.all, for: Harness.features, part: 4
    ) {
        Harness(site: try await closedSite())
    }

    @Test(.beside(run), arguments: run.checks)
    func `Firestore's storage, in the project's name`(_ check: StorageCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `The client declares what the checks are chosen by`() async throws {
        let client = try await Self.client(of: Self.closedSite())
        #expect(client.capabilities == Harness.features.capabilities)
    }

    @Test func `More than a page below a document goes with it, in trees of missing documents too`() async throws {
        let client = try await Self.client(of: Self.closedSite())
        var writes: [DocumentWrite] = [try .set("other/a", ["n": 1])]
        for number in 0..<620 {
            writes.append(try .set("trees/a/leaves/\(number)", ["n": .of(number)]))
            if number % 100 == 0 { writes.append(try .set("trees/a/gone/\(number)/deep/x", ["n": 1])) }
        }
        for start in stride(from: 0, to: writes.count, by: 400) {
            try await client.commit(WriteBatch(Array(writes[start...].prefix(400))))
        }
        #expect(try await client.collections(under: "trees/a").map(\.id) == ["gone", "leaves"])
        let seen = Seen()
        let deleted = try await client.deleteRecursively("trees/a") { seen.add($0) }
        #expect(deleted == 627)
        #expect(seen.values.last == 627 && seen.values.count > 1)
        #expect(try await client.documents(Query(group: "leaves")).isEmpty)
        #expect(try await client.collections(under: nil).map(\.id) == ["other"])
    }

    @Test func `All collections of a name are read by several, whether or not the server divides them`() async throws {
        let client = try await Self.client(of: Self.closedSite())
        try await client.writeInBulk((0..<700).map { try .set("owners/\($0 % 9)/orders/\($0)", ["n": .of($0)]) })
        let seen = Seen()
        try await client.forEachDocument(Query(group: "orders"), pageSize: 40, parallel: 4) { document in
            seen.add(Int(document["n"]?.integerValue ?? -1))
        }
        #expect(seen.values.sorted() == Array(0..<700))
    }

    struct Mail: Codable, Sendable {
        var number: Int
    }

    @Test(.timeLimit(.minutes(2))) func `Workers of several clients do each job once, and many writes arrive`()
        async throws
    {
        let site = try await Self.closedSite()
        let report = try await Self.client(of: site).writeInBulk(
            (0..<1200).map { try .set("bulk/\($0)", ["n": .of($0)]) })
        #expect(report.written == 1200 && report.failed == 0)
        let first = WorkQueue("mails", on: try await Self.client(of: site), of: Mail.self)
        for number in 0..<30 { try await first.add(Mail(number: number)) }
        let done = Seen()
        var workers: [Task<Void, any Error>] = []
        for _ in 0..<3 {
            let queue = WorkQueue("mails", on: try await Self.client(of: site), of: Mail.self)
            workers.append(Task { try await queue.run(parallel: 2) { job in done.add(job.payload.number) } })
        }
        try await eventually("the queue is empty") { try await first.count() == 0 }
        for worker in workers { worker.cancel() }
        for worker in workers { try await worker.value }
        #expect(done.values.sorted() == Array(0..<30))
    }
}

private final class Seen: Sendable {
    private let box = Mutex<[Int]>([])
    var values: [Int] { box.withLock { $0 } }
    func add(_ value: Int) { box.withLock { $0.append(value) } }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// What servers do in the project's name: very many writes, and work that many share.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ProjectJobsTests {
    struct Mail: Codable, Sendable, Hashable {
        var number: Int
    }

    /// Collections of this test's own, in a project that others use too.
    private let place = "jobs-\(RandomID.make())"
    private var mails: CollectionPath { CollectionPath(unchecked: place) }

    private static func backend() async throws -> Infrastructure {
        let site = try await SupabaseSite.shared.value
        var configuration = SupabaseConfiguration(url: site.supabase.server.url, key: Secret(site.supabase.anonKey))
        configuration.serviceKey = Secret(site.supabase.serviceKey)
        return try await Infrastructure(.supabase(configuration))
    }

    @Test(.timeLimit(.minutes(2))) func `Very many writes arrive, and those that are refused take no others with them`()
        async throws
    {
        let backend = try await Self.backend()
        let storage = try await backend.actingAsProject().storage
        let paths = try (0..<1200).map { try StoragePath(validating: "\(place)/\($0)") }
        try await storage.commit(WriteBatch([.set(paths[7], ["n": -1]), .set(paths[801], ["n": -1])]))
        var options = BulkOptions()
        options.batchSize = 250
        let reported = Numbers()
        let report = try await storage.writeInBulk(
            paths.enumerated().map { try .create($1, ["n": .of($0)]) }, options: options
        ) { result in
            if case .success = result.outcome { reported.add(1) }
        }
        #expect(report.written == 1198 && reported.all.count == 1198)
        #expect(Set(report.failures.map(\.write.path)) == [paths[7], paths[801]])
        for failure in report.failures {
            guard case .failure(let error) = failure.outcome else { continue }
            #expect(error.code == .alreadyExists)
        }
        #expect(try await storage.count(Query(in: mails)) == 1200)
        #expect(try await storage.document(paths[7])["n"] == -1)
        #expect(try await storage.document(paths[1199])["n"] == 1199)

        let again = try await storage.writeInBulk(paths.map { DocumentWrite.delete($0) })
        #expect(again.written == 1200 && again.failed == 0)
        #expect(try await storage.count(Query(in: mails)) == 0)
        await backend.shutDown()
    }

    @Test(.timeLimit(.minutes(2))) func `Workers of several programs do each job once`() async throws {
        let programs = try await [Self.backend(), Self.backend(), Self.backend()]
        let first = WorkQueue(mails, on: try await programs[0].actingAsProject().storage, of: Mail.self)
        for number in 0..<30 { try await first.add(Mail(number: number)) }
        let done = Numbers()
        var workers: [Task<Void, any Error>] = []
        for program in programs {
            let queue = WorkQueue(mails, on: try await program.actingAsProject().storage, of: Mail.self)
            workers.append(Task { try await queue.run(parallel: 2) { job in done.add(job.payload.number) } })
        }
        try await eventually("the queue is empty", within: .seconds(60)) { try await first.count() == 0 }
        for worker in workers { worker.cancel() }
        for worker in workers { try await worker.value }
        #expect(done.all.sorted() == Array(0..<30))
        for program in programs { await program.shutDown() }
    }

    @Test func `A lost lease is noticed, and what fails again and again becomes a dead letter that can be revived`()
        async throws
    {
        let (backend, clock) = (try await Self.backend(), MovedClock())
        // To whole microseconds, as it goes on.
        clock.advance(0)
        var options = WorkQueueOptions()
        options.attempts = 2
        let queue = WorkQueue(
            mails, on: try await backend.actingAsProject().storage, of: Mail.self, options: options
        ) { clock.now }
        let id = try await queue.add(Mail(number: 1))
        let lost = try #require(try await queue.claim().first)
        #expect(try await queue.claim().isEmpty)
        clock.advance(61)
        let second = try #require(try await queue.claim().first)
        #expect(second.id == id && second.attempt == 2)
        let error = await #expect(throws: StorageError.self) { try await queue.finish(lost) }
        #expect(error?.code == .aborted)

        try await queue.fail(second, because: "no route")
        #expect(try await queue.count() == 0)
        let dead = try #require(try await queue.deadLetters().first)
        #expect(dead.id == id && dead.payload == Mail(number: 1) && dead.attempts == 2 && dead.reason == "no route")
        try await queue.requeueDeadLetter(id)
        let revived = try #require(try await queue.claim().first)
        #expect(revived.attempt == 1)
        try await queue.finish(revived)
        let (left, letters) = (try await queue.count(), try await queue.deadLetters())
        #expect(left == 0 && letters.isEmpty)
        await backend.shutDown()
    }
}

private final class Numbers: Sendable {
    private let box = Mutex<[Int]>([])
    var all: [Int] { box.withLock { $0 } }
    func add(_ number: Int) { box.withLock { $0.append(number) } }
}

import Foundation
import Switchyard
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Lost connections, lost answers and restarts, on the real Firestore emulator.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreHardshipTests {
    @Test(.beside(cutsRun), .timeLimit(.minutes(2)))
    func `Fifty live queries heal when connections are cut under a load of writes`() async throws {
        try await Self.cutsRun.value
    }

    private static let cutsRun: SideRun<Int, Void> = SideRun { try await FirestoreHardshipTests().cuts() }

    private func cuts() async throws {
        let site = try await FirestoreSite()
        let proxy = try CuttingProxy(to: site.emulator.port)
        let reader = try await site.client(through: proxy.port)
        let writer = try await site.client(through: proxy.port)
        let cuts = RunSize.full(12, part: 3)
        try await FiftyRooms(reader: reader, writer: writer).check(cuts) { proxy.cutAll() }
        #expect(proxy.acceptedCount > 2 * cuts, "connections were cut and reopened")
        await reader.shutDown()
        await writer.shutDown()
        proxy.stop()
    }

    private static let count = RunSize.full(1_000, part: 200)
    private static let increments = SideRun<Int, IncrementingDevice.Outcome>(0...0) { _ in
        try await IncrementingDevice.sendAll(count, lives: 5)
    }

    @Test(.beside(increments))
    func `Hundreds of increments are exact, though each third answer is lost and the process is killed`()
        async throws
    {
        let outcome = try await Self.increments.value
        #expect(outcome.sum == [.integer(Int64(Self.count))])
        #expect(outcome.lostAnswers > Self.count * 3 / 10)
    }

    @Test func `A transaction whose answer was lost is found in the ledger, and not done again`() async throws {
        let site = try await FirestoreSite()
        let client = try await site.client(transport: LossyTransport(losesEvery: 2))
        for _ in 0..<10 {
            try await client.transaction { transaction in
                let counter = try await transaction.document("counters/a")
                try await transaction.set("counters/a", ["n": .of((counter["n"]?.integerValue ?? 0) + 1)])
            }
        }
        #expect(try await client.document("counters/a", from: .server)["n"] == 10)
        await client.shutDown()
    }

    @Test func `Ten who transact on one document at the same time all get their turn`() async throws {
        let site = try await FirestoreSite()
        let client = try await site.client()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do {
                        try await client.transaction(TransactionOptions(maximumAttempts: 50)) { transaction in
                            let counter = try await transaction.document("counters/a")
                            try await transaction.set("counters/a", ["n": .of((counter["n"]?.integerValue ?? 0) + 1)])
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        #expect(try await client.document("counters/a", from: .server)["n"] == 10)
        await client.shutDown()
    }
}

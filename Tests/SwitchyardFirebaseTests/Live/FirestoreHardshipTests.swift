import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Lost connections, lost answers and restarts, on the real Firestore emulator.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreHardshipTests {
    @Test(.timeLimit(.minutes(2)))
    func `Fifty live queries heal when connections are cut under a load of writes`() async throws {
        let site = try await FirestoreSite()
        let proxy = try CuttingProxy(to: site.emulator.port)
        let reader = try await site.client(through: proxy.port)
        let writer = try await site.client(through: proxy.port)
        try await FiftyRooms(reader: reader, writer: writer).check(12) { proxy.cutAll() }
        #expect(proxy.acceptedCount > 24, "connections were cut and made anew")
        await reader.shutDown()
        await writer.shutDown()
        proxy.stop()
    }

    @Test func `A thousand increments are exact, though each third answer is lost and the device restarts`()
        async throws
    {
        let site = try await FirestoreSite()
        let counts = CountingTransport.SharedCounts()
        let folder = ScratchSpace.url.appendingPathComponent("increments-\(UUID().uuidString)")
        let context = ModuleContext(stateFolder: folder)
        func makeDevice() async throws -> FirebaseStorageAdapter {
            try await site.client(transport: CountingTransport(counts: counts, losesEvery: 3), context)
        }

        var client = try await makeDevice()
        try await client.disableNetwork()
        for number in 0..<1_000 {
            try await client.mergeDocument(CollectionPath("counters").document("c\(number % 7)"), ["n": .increment(1)])
        }
        await client.shutDown()

        var restarts = 0
        client = try await makeDevice()
        while true {
            let goal = counts.commits + 170
            let device = client
            let isDone = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await device.waitForPendingWrites()
                    return true
                }
                group.addTask {
                    try await eventually("some more commits") { Task.isCancelled || counts.commits >= goal }
                    return false
                }
                defer { group.cancelAll() }
                return try await group.next() ?? false
            }
            if isDone { break }
            await client.shutDown()
            restarts += 1
            client = try await makeDevice()
        }
        let sum = try await client.aggregate(Query(in: "counters"), [.sum("n")])
        #expect(sum == [1_000])
        #expect(counts.lost > 300)
        #expect(restarts >= 4)
        await client.shutDown()
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `A transaction whose answer was lost is found in the ledger, and not done again`() async throws {
        let site = try await FirestoreSite()
        let client = try await site.client(transport: CountingTransport(losesEvery: 2))
        for _ in 0..<10 {
            try await client.transaction { transaction in
                let counter = try await transaction.snapshot("counters/a")
                try await transaction.set("counters/a", ["n": .of((counter["n"]?.integerValue ?? 0) + 1)])
            }
        }
        #expect(try await client.snapshot("counters/a", from: .server)["n"] == 10)
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
                            let counter = try await transaction.snapshot("counters/a")
                            try await transaction.set("counters/a", ["n": .of((counter["n"]?.integerValue ?? 0) + 1)])
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        #expect(try await client.snapshot("counters/a", from: .server)["n"] == 10)
        await client.shutDown()
    }
}

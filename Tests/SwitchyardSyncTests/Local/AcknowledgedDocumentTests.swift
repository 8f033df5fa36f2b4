import Switchyard
import Testing

@testable import SwitchyardSync

/// Documents that the server has taken and the stream of changes has not shown yet, where the cache keeps them meanwhile.
@Suite struct AcknowledgedDocumentTests {
    private let ulm: StoragePath = "cities/ulm"
    private let machine: SyncMachine

    /// Its write is acknowledged before anybody listens.
    init() throws {
        machine = try SyncMachine(store: MemoryStore(), policy: .standard, owner: QueueOwner(nil))
        _ = machine.start()
        _ = machine.handle(.write(1, [try .set(ulm, ["pop": 126])], at: time(1)))
        _ = machine.handle(.writerOpened)
        _ = machine.handle(.committed(CommitResult(commitTime: time(4), updateTimes: [time(4)])))
    }

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

    private func shown(_ actions: [SyncAction]) -> [ViewSnapshot] {
        actions.compactMap { if case .snapshot(1, let snapshot) = $0 { snapshot } else { nil } }
    }

    @Test func `A view that begins after the acknowledgement shows no pending write, then or later`() throws {
        let query = LiveQuery.document(ulm)
        let first = shown(machine.handle(.listen(1, query, ViewOptions(includesMetadataChanges: true))))
        #expect(first.map(\.hasPendingWrites) == [false])
        #expect(first.last?.documents.first?.metadata.hasPendingWrites == false)

        let target = try #require(machine.targetID(of: query))
        _ = machine.handle(.watchOpened)
        let told: [WatchEvent] = [
            .added([target]),
            .changed(.existing(ulm, ["pop": 126], updateTime: time(4)), targets: [target]),
            .current([target], token: [1]), .snapshot(version: time(4), token: [1]),
        ]
        let confirmed = try #require(told.flatMap { shown(machine.handle(.watched($0))) }.last)
        #expect(!confirmed.isFromCache && !confirmed.hasPendingWrites)
        #expect(confirmed.documents.first?.metadata.hasPendingWrites == false)
        #expect(confirmed.documents.first?.data == ["pop": 126])
    }

    @Test func `A look into the cache shows no pending write`() throws {
        let document = try #require(try machine.document(at: ulm))
        #expect(document.exists && !document.metadata.hasPendingWrites)
    }
}

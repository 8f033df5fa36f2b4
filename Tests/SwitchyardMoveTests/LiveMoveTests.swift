import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardMove

@Suite struct LiveMoveTests {
    @Test func `A move goes through its phases while two devices write, and both sides are equal in each`() async throws
    {
        let bed = try await LiveBed()
        let (first, second) = (try await bed.device(), try await bed.device())
        try await first.storage.setDocument("counters/c", ["n": 0])
        for number in 0..<20 { try await first.storage.setDocument("items/\("i\(number)")", ["n": .of(number)]) }
        bed.start()
        var count: Int64 = 0
        for phase in [MovePhase.dualWrite, .shadowRead, .cutOver, .shadowRead, .dualWrite, .cutOver] {
            try await bed.reach(phase)
            for device in [first, second] {
                try await device.storage.updateDocument("counters/c", ["n": .increment(1)])
                try await device.storage.transaction { transaction in
                    let n = try await transaction.document("counters/c")["n"]?.integerValue ?? 0
                    try await transaction.set("counters/c", ["n": .of(n + 1)])
                }
                count += 2
            }
            try await second.storage.deleteDocument("items/\("i\(count)")")
            try await bed.settle([first, second])
            let (old, new) = (
                try await bed.old.documents(["items", "counters"]),
                try await bed.new.documents(["items", "counters"])
            )
            #expect(old == new, "\(phase)")
            #expect(new["counters/c"]?["n"] == .integer(count))
        }
        try await eventually("both devices use the new side") {
            first.moving.serving == .new && second.moving.serving == .new
        }
        try await bed.reach(.done)
        try await first.storage.updateDocument("counters/c", ["n": .increment(1)])
        #expect(try await second.storage.document("counters/c")["n"] == .integer(count + 1))
        await bed.end([first, second])
    }

    @Test func `A live query moves over without a hole and without a double`() async throws {
        let bed = try await LiveBed()
        let device = try await bed.device()
        let other = try await bed.device()
        for number in 0..<5 { try await device.storage.setDocument("items/\("i\(number)")", ["n": .of(number)]) }
        let seen = Collected<[String]>()
        let watching = Task {
            for try await snapshot in device.storage.snapshots(of: Query(in: "items")) {
                // Changes lead from the one before to this one.
                seen.append(snapshot.documents.map(\.id))
            }
        }
        try await eventually("the first snapshot") { seen.all.last?.count == 5 }
        bed.start()
        try await bed.reach(.cutOver)
        try await other.storage.setDocument("items/last", ["n": 99])
        try await eventually("the document that was written after the change of sides") {
            seen.all.last?.contains("last") == true
        }
        #expect(seen.all.dropFirst().allSatisfy { $0.count >= 5 }, "no snapshot without the documents: \(seen.all)")
        #expect(seen.all.allSatisfy { Set($0).count == $0.count })
        watching.cancel()
        await bed.end([device, other])
    }

    @Test func `A device that was offline during the whole move brings its writes to the new side, once and in order`()
        async throws
    {
        let bed = try await LiveBed()
        let (online, offline) = (try await bed.device(), try await bed.device())
        try await online.storage.setDocument("counters/c", ["n": 0, "by": "start"])
        _ = try await offline.storage.document("counters/c")
        try await offline.setOnline(false)
        for number in 1...5 {
            try await offline.storage.updateDocument("counters/c", ["n": .increment(1), "last": .of(number)])
            try await offline.storage.setDocument("items/\("offline\(number)")", ["n": .of(number)])
        }
        bed.start()
        try await bed.reach(.cutOver)
        try await eventually("the other device uses the new side") { online.moving.serving == .new }
        try await online.storage.updateDocument("counters/c", ["n": .increment(100)])
        try await offline.setOnline(true)
        try await eventually("the device uses the new side") { offline.moving.serving == .new }
        try await offline.storage.updateDocument("counters/c", ["n": .increment(1), "last": 6])
        try await bed.settle([online, offline])
        let (old, new) = (
            try await bed.old.documents(["items", "counters"]),
            try await bed.new.documents(["items", "counters"])
        )
        #expect(old == new)
        #expect(new["counters/c"]?["n"] == .integer(106))
        #expect(new["counters/c"]?["last"] == .integer(6))
        #expect(new.keys.count { $0.hasPrefix("items/offline") } == 5)
        await bed.end([online, offline])
    }

    @Test func `Without the process that carries, devices go on where they are, and nothing fails`() async throws {
        let bed = try await LiveBed()
        let device = try await bed.device()
        bed.start()
        try await bed.reach(.shadowRead)
        await bed.stop()
        // The change of sides is announced by a process that ends right after.
        try await bed.live.request(.cutOver)
        var control = try await bed.live.control()
        control.phase = .cutOver
        try await bed.live.announce(control, first: .new)
        try await eventually("the device has learned of it") { device.moving.phase == .cutOver }
        for number in 0..<10 { try await device.storage.setDocument("items/\("i\(number)")", ["n": .of(number)]) }
        #expect(device.moving.serving == .old)
        bed.start()
        try await eventually("the device uses the new side") { device.moving.serving == .new }
        try await bed.settle([device])
        #expect(try await bed.new.documents(["items"]).count == 10)
        await bed.end([device])
    }

    @Test func `A phase that is learned by a transaction is followed like one that the stream tells`() async throws {
        let backend = try await MockBackend().infrastructure()
        let layout = try MoveLayout("test")
        let feed = PhaseFeed(
            Sides(old: backend.storage, new: backend.storage), layout, clock: ContinuousClock())
        let phases = Collected<MovePhase>()
        feed.start { phases.append($0.phase) }
        let control: DocumentData = ["phase": "cut-over", "epoch": 3]
        feed.note(.existing(layout.control, control), .old)
        try await eventually("it is followed") { phases.all == [.cutOver] }
        feed.stop()
        await backend.shutDown()
    }

    @Test func `What the move keeps for itself is not copied, counted or seen in the queue`() async throws {
        let bed = try await LiveBed()
        let device = try await bed.device()
        try await device.setOnline(false)
        let receipt = try await device.storage.setDocument("items/a", ["n": 1])
        var pending: [PendingWrite] = []
        for try await writes in device.storage.pendingWrites() {
            pending = writes
            break
        }
        #expect(pending.map(\.batch.count) == [1])
        try await device.setOnline(true)
        let acknowledgement = try await receipt.acknowledged()
        #expect(acknowledgement.updateTimes.count == 1)
        let plan = try await bed.live.move.plan()
        #expect(plan.collections.map(\.name) == ["items"])
        await bed.end([device])
    }
}

/// Elements in the order in which they came.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    func append(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
}

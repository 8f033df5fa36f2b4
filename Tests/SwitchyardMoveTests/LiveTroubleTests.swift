import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardMock
import SwitchyardSupabase
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardMove

/// What can go wrong during a live move, and what happens then.
@Suite struct LiveTroubleTests {
    @Test func `While the new side cannot be reached, apps do not notice, and their writes wait`() async throws {
        let network = MockNetwork()
        let backend = MockBackend()
        let new = LiveSide(
            module: { MockModule(backend: backend, network: $0) },
            project: try await backend.infrastructure(network: network), stop: {}, isMock: true)
        let bed = try await LiveBed(new: new)
        let device = try await bed.device()
        bed.start()
        try await bed.reach(.dualWrite)
        network.isOnline = false
        try await device.storage.setDocument("items/a", ["n": 1])
        try await eventually("the write waits") { try await bed.waiting() == 1 }
        network.isOnline = true
        try await bed.settle([device])
        #expect(try await bed.new.documents(["items"]).count == 1)
        await bed.end([device])
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `A document that the new side cannot hold is listed, and the others go on`() async throws {
        let bed = try await LiveBed(new: .supabase())
        let device = try await bed.device()
        bed.start()
        try await bed.reach(.dualWrite)
        try await device.storage.setDocument("items/zero", ["text": "a\u{0}b"])
        try await device.storage.setDocument("items/fine", ["text": "ab"])
        try await bed.settle([device])
        let status = try await bed.live.status()
        #expect(status.conflicts.map(\.subject) == ["items/zero"])
        #expect(try await bed.new.documents(["items"]).keys.sorted() == ["items/fine"])
        await bed.end([device])
    }

    @Test func `A late write that the new side does not allow is kept for someone to decide`() async throws {
        let bed = try await LiveBed()
        let (online, offline) = (try await bed.device(), try await bed.device())
        try await online.storage.setDocument("items/a", ["n": 1])
        _ = try await offline.storage.document("items/a")
        bed.start()
        try await bed.reach(.dualWrite)
        await bed.stop()
        // The process that carries is not there when the sides change, so this write to the old side comes late.
        try await bed.live.request(.cutOver)
        var control = try await bed.live.control()
        control.phase = .cutOver
        try await bed.live.announce(control, first: .new)
        try await bed.new.project.actingAsProject().storage.deleteDocument("items/a")
        try await offline.storage.updateDocument("items/a", ["n": 2])
        bed.start()
        try await bed.settle([online, offline])
        let conflicts = try await bed.live.status().conflicts
        #expect(conflicts.count == 1)
        #expect(conflicts.first?.subject == "update items/a (1 field)")
        #expect(conflicts.first?.reason.includes("items/a") == true)
        await bed.end([online, offline])
    }

    @Test func `What is written past the move is found and carried before reads are compared`() async throws {
        let bed = try await LiveBed()
        try await bed.old.project.actingAsProject().storage.setDocument("items/first", ["n": 0])
        bed.start()
        try await bed.reach(.dualWrite)
        try await bed.old.project.actingAsProject().storage.setDocument("items/first", ["n": 1])
        try await bed.reach(.shadowRead)
        #expect(try await bed.new.documents(["items"])["items/first"]?["n"] == .integer(1))
        await bed.end()
    }

    @Test func `A read that differs is reported with its path and field, and never with contents`() async throws {
        let bed = try await LiveBed()
        let notices = Collected<String>()
        let device = try await bed.device { $0.observer = NoticeObserver(notices: notices) }
        try await device.storage.setDocument("items/a", ["n": 41])
        bed.start()
        try await bed.reach(.shadowRead)
        try await bed.live.compareReads(1)
        try await eventually("the device compares") { device.moving.phase == .shadowRead }
        try await bed.new.project.actingAsProject().storage.setDocument("items/a", ["n": 42])
        try await eventually("a difference is reported") {
            _ = try await device.storage.document("items/a")
            return notices.all.contains { $0.includes("items/a") && $0.includes("“n”") }
        }
        #expect(!notices.all.contains { $0.includes("41") || $0.includes("42") })
        #expect(device.moving.comparedReads.differences > 0)
        await bed.end([device])
    }

    @Test func `A transaction that is under way when the sides change runs again on the new side`() async throws {
        let bed = try await LiveBed()
        let device = try await bed.device()
        try await device.storage.setDocument("counters/c", ["n": 1])
        bed.start()
        try await bed.reach(.shadowRead)
        let attempts = Mutex(0)
        let changed = Mutex(false)
        try await device.storage.transaction { transaction in
            let n = try await transaction.document("counters/c")["n"]?.integerValue ?? 0
            attempts.withLock { $0 += 1 }
            if !changed.withLock({ $0 }) {
                changed.withLock { $0 = true }
                try await bed.live.request(.cutOver)
                try await eventually("the sides have changed") { try await bed.live.status().phase == .cutOver }
            }
            try await transaction.set("counters/c", ["n": .of(n + 1)])
        }
        #expect(attempts.withLock { $0 } > 1)
        #expect(device.moving.serving == .new)
        try await bed.settle([device])
        #expect(try await bed.new.documents(["counters"])["counters/c"]?["n"] == .integer(2))
        #expect(try await bed.old.documents(["counters"])["counters/c"]?["n"] == .integer(2))
        await bed.end([device])
    }

    @Test func `A batch that depends on a version fails if the sides have changed, instead of taking effect elsewhere`()
        async throws
    {
        let bed = try await LiveBed()
        let device = try await bed.device()
        try await device.storage.setDocument("items/a", ["n": 1])
        bed.start()
        try await bed.reach(.shadowRead)
        try await eventually("the device knows the phase") { device.moving.phase == .shadowRead }
        let document = try await device.storage.document("items/a", from: .server)
        try await device.setOnline(false)
        let write = try DocumentWrite.update("items/a", ["n": 2]).requiring(.updateTime(document.updateTime!))
        let receipt = try await device.storage.commit(WriteBatch([write]))
        try await bed.reach(.cutOver)
        try await device.setOnline(true)
        await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        // What was rejected on the old side is listed, and can be queued again where the device is now.
        try await eventually("the device uses the new side") { device.moving.serving == .new }
        var refused: [RefusedWrite] = []
        for try await writes in device.storage.refusedWrites() {
            refused = writes
            break
        }
        #expect(refused.map(\.batch.count) == [1])
        try await device.storage.resolveRefusedWrite(
            refused[0].id, requeuing: WriteBatch([.update("items/a", ["n": 3])]))
        try await bed.settle([device])
        #expect(try await bed.new.documents(["items"])["items/a"]?["n"] == .integer(3))
        await bed.end([device])
    }

    @Test func `Given up, the old side serves alone, and a later move deletes what is no longer there`() async throws {
        let bed = try await LiveBed { $0.deletesExtras = true }
        let device = try await bed.device()
        for number in 0..<5 { try await device.storage.setDocument("items/\("i\(number)")", ["n": .of(number)]) }
        bed.start()
        try await bed.reach(.cutOver)
        try await eventually("the device uses the new side") { device.moving.serving == .new }
        try await device.storage.deleteDocument("items/i0")
        try await bed.reach(.idle)
        try await eventually("the device uses the old side") { device.moving.serving == .old }
        try await device.storage.deleteDocument("items/i1")
        await bed.stop()
        bed.start()
        try await bed.reach(.shadowRead)
        try await bed.settle([device])
        #expect(try await bed.old.documents(["items"]).keys.sorted() == ["items/i2", "items/i3", "items/i4"])
        #expect(try await bed.new.documents(["items"]) == bed.old.documents(["items"]))
        await bed.end([device])
    }

    @Test func `Behind more late writes than are read at once, nothing is overwritten`() async throws {
        let bed = try await LiveBed()
        let (old, new) = (
            try await bed.old.project.actingAsProject().storage, try await bed.new.project.actingAsProject().storage
        )
        let carrier = bed.live.carrier
        for number in 0..<Carrier.page + 1 {
            // The last one, which is not on the first page, is about the document.
            let path: StoragePath = number < Carrier.page ? "items/\("other\(number)")" : "items/a"
            let write = try DocumentWrite.set(path, ["by": "a late device"])
            try await new.commit(WriteBatch([write] + (try carrier.log.entry(for: [write], isState: false))))
        }
        try await old.setDocument("items/a", ["by": "the serving side"])
        let outcome = try await carrier.copyStates(of: ["items/a"], from: .old)
        #expect(outcome.postponed == ["items/a"])
        #expect(try await new.document("items/a")["by"] == .string("a late device"))
        await bed.end()
    }

    @Test func `A second process is refused`() async throws {
        let bed = try await LiveBed()
        bed.start()
        try await bed.reach(.dualWrite)
        await #expect(throws: MoveError.self) { try await bed.live.run() }
        let other = try LiveMove(
            from: try await BackendEnd(bed.old.project, name: "old"),
            to: try await BackendEnd(bed.new.project, name: "new"), name: "test", journal: MoveBed().folder("other"))
        do {
            try await other.run()
            Issue.record("It ran.")
        } catch {
            #expect(error.code == .locked)
        }
        await bed.end()
    }

    @Test func `A long batch is logged in several documents`() async throws {
        let bed = try await LiveBed()
        let device = try await bed.device()
        let text = String(repeating: "x", count: 600_000)
        var batch = WriteBatch()
        for number in 0..<4 { try batch.set("items/\("long\(number)")", ["text": .of(text)]) }
        try await device.setOnline(false)
        try await device.storage.commit(batch)
        bed.start()
        try await bed.reach(.cutOver)
        try await device.setOnline(true)
        try await eventually("the device uses the new side") { device.moving.serving == .new }
        try await bed.settle([device])
        #expect(try await bed.new.documents(["items"]).count == 4)
        #expect(try await bed.old.documents(["items"]) == bed.new.documents(["items"]))
        await bed.end([device])
    }

    @Test func `A backend that cannot log its writes is refused before anything begins`() async throws {
        var configuration = SupabaseConfiguration(url: "http://127.0.0.1:9", key: "any")
        configuration.tables = [SupabaseTableMapping(collection: "items", table: "items", fields: ["n": "n"])]
        configuration.usesDocumentTable = false
        let factory = InfrastructureFactory(
            MockModule(), MovingModule(from: MockModule(), to: SupabaseModule(configuration)))
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = .moving
        do {
            _ = try await factory.make(selection)
            Issue.record("It was made.")
        } catch {
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.includes("switchyard supabase install --documents"))
        }
    }

    @Test func `The end waits while devices still write to the old side`() async throws {
        let bed = try await LiveBed()
        let device = try await bed.device()
        bed.start()
        try await bed.reach(.cutOver)
        try await eventually("the device uses the new side") { device.moving.serving == .new }
        // A device of which nothing else is known.
        let log = MoveLog(bed.live.layout)
        let write = try DocumentWrite.set("items/late", ["n": 1])
        let project = try await bed.old.project.actingAsProject().storage
        try await project.commit(WriteBatch([write] + (try log.entry(for: [write], isState: false))))
        try await bed.reach(.done)
        #expect(try await bed.new.documents(["items"]).keys.sorted() == ["items/late"])
        do {
            try await bed.live.request(.cutOver)
            Issue.record("There is a way back.")
        } catch {
            #expect(error.code == .invalidArgument)
        }
        await bed.end([device])
    }

    @Test func `An upload that never ended is carried after an hour`() throws {
        let path = try FilePath(validating: "photos/a.png")
        func entry(_ age: Double) -> MoveLogEntry {
            MoveLogEntry(
                path: "switchyardMoves/test/switchyardLog/e", at: Timestamp(Date().addingTimeInterval(-age)),
                content: .file(path, isOpen: true))
        }
        #expect(entry(60).isOpen)
        #expect(!entry(3700).isOpen)
    }
}

private struct NoticeObserver: InfrastructureObserver {
    let notices: Collected<String>

    func observe(_ event: InfrastructureEvent) {
        if case .notice(let text) = event.kind { notices.append(text) }
    }
}

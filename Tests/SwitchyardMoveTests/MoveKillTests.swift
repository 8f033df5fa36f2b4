import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardMove

@Suite struct MoveKillTests {
    @Test func `A move that fails or is stopped at any point continues, and both ends are equal`() async throws {
        let old = try await MoveBed.filledMock(documents: 120)
        let source = try await BackendEnd(old.infrastructure(), name: "old")
        for seed in 0..<50 as Range<UInt64> {
            let bed = MoveBed()
            let isArchive = seed % 3 == 0
            let new = MockBackend()
            let target: any MoveEnd =
                isArchive
                ? try ArchiveEnd(bed.folder("archive"), creates: true)
                : try await BackendEnd(new.infrastructure(), name: "new")
            try await move(from: source, to: target, bed, seed)
            let move = Move(from: source, to: target)
            let plan = try await move.plan()
            let verification = try await move.verify(plan)
            #expect(verification.isEqual, "seed \(seed): \(verification)")
            if !isArchive { #expect(new.documentCount == old.documentCount) }
        }
    }

    @Test func `A failure that passes does not end a move`() async throws {
        let bed = MoveBed()
        let (old, new) = (try await MoveBed.filledMock(documents: 30), MockBackend())
        for count in [1, 2, 6] {
            let fuse = FailingEnd.Fuse(at: count, after: true) { throw StorageError(.unavailable, "Not now.") }
            let target = FailingEnd(base: try await BackendEnd(new.infrastructure(), name: "new"), fuse: fuse)
            let move = Move(from: try await BackendEnd(old.infrastructure(), name: "old"), to: target)
            let report = try await move.run(try await move.plan(), journal: bed.folder("\(count)")).result()
            #expect(report.documents == 35 && report.rejections.isEmpty)
        }
    }

    /// Runs again after each failure.
    private func move(from source: any MoveEnd, to target: any MoveEnd, _ bed: MoveBed, _ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var options = MoveOptions()
        options.pageSize = 7
        options.parallel = random.int(1..<5)
        let plan = try await Move(from: source, to: target, options: options).plan()
        for _ in 0..<100 {
            let running = Mutex<MoveRun?>(nil)
            let isStopped = random.chance(40)
            let fuse = FailingEnd.Fuse(at: random.int(1..<16), after: random.chance(50)) {
                guard isStopped else { throw StorageError(.internal, "The server is gone.") }
                running.withLock { $0 }?.cancel()
            }
            let move = Move(from: source, to: FailingEnd(base: target, fuse: fuse), options: options)
            let run = try move.run(plan, journal: bed.folder("journal"))
            running.withLock { $0 = run }
            do throws(MoveError) {
                let report = try await run.result()
                #expect(report.documents == 125, "seed \(seed)")
                #expect(report.accounts == 5)
                #expect(report.files == 7)
                return
            } catch {
                #expect([.internal, .cancelled].contains(error.code), "seed \(seed): \(error)")
            }
        }
        Issue.record("seed \(seed) does not end")
    }

    @Test func `A journal belongs to one move, and to one process at a time`() async throws {
        let bed = MoveBed()
        var journal: MoveJournal? = try MoveJournal(bed.folder("journal"), from: "a", to: "b")
        let held = #expect(throws: MoveError.self) { try MoveJournal(bed.folder("journal"), from: "a", to: "b") }
        #expect(held?.code == .locked)
        try journal?.noteAccounts(1, place: "x", count: 3, ids: [.init(from: "ada", to: "1")])
        journal = nil
        let later = try MoveJournal(bed.folder("journal"), from: "a", to: "b")
        #expect(later.accounts.place == "x")
        #expect(later.accounts.items == 3)
        #expect(later.ids == ["ada": "1"])
    }

    @Test func `A line that was cut off is dropped, and the journal goes on behind the one before`() throws {
        let bed = MoveBed()
        let file = bed.folder("journal").appendingPathComponent("journal.jsonl")
        func use(_ body: (MoveJournal) throws -> Void) throws {
            try body(try MoveJournal(bed.folder("journal"), from: "a", to: "b"))
        }
        try use { try $0.noteFile("one", bytes: 1) }
        var bytes = try Data(contentsOf: file)
        bytes += Data(#"{"file":{"path":"tw"#.utf8)
        try bytes.write(to: file)
        try use { journal in
            #expect(journal.files.count == 1)
            try journal.noteFile("three", bytes: 2)
        }
        try use { journal in
            #expect(journal.files == (2, 3))
            #expect(journal.hasFile("three"))
        }
        let other = #expect(throws: MoveError.self) { try MoveJournal(bed.folder("journal"), from: "a", to: "c") }
        #expect(other?.message.contains("belongs to the move from a to b") == true)
    }
}

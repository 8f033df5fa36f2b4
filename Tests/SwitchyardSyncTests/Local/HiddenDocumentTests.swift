import Switchyard
import Testing

@testable import SwitchyardSync

/// Documents that a server hides from people who may not see them, and shows later in the version that they always had.
@Suite struct HiddenDocumentTests {
    private let ulm: StoragePath = "cities/ulm"

    private func machine(hidesDocuments: Bool = true) throws -> SyncMachine {
        let machine = try SyncMachine(
            store: MemoryStore(), policy: .standard, owner: QueueOwner(nil),
            hidesDocuments: hidesDocuments)
        _ = machine.start()
        return machine
    }

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }
    private var city: DocumentSnapshot { .existing(ulm, ["pop": 126], updateTime: time(1)) }

    private func read(_ document: DocumentSnapshot, at seconds: Int64, _ machine: SyncMachine) throws -> Bool {
        _ = try machine.take(FetchedDocuments(documents: [document], readTime: time(seconds)))
        return try machine.document(at: ulm)?.exists == true
    }

    @Test(arguments: [false, true])
    func `What was missing comes back in its old version where servers hide documents`(hides: Bool) throws {
        let machine = try machine(hidesDocuments: hides)
        #expect(try !read(.missing(ulm), at: 5, machine))
        #expect(try read(city, at: 6, machine) == hides)
    }

    @Test func `An answer from before it was missing does not bring it back`() throws {
        let machine = try machine()
        #expect(try !read(.missing(ulm), at: 5, machine))
        #expect(try !read(city, at: 4, machine))
        #expect(try !read(city, at: 5, machine))
    }

    @Test func `What this device has deleted comes back by a newer version only`() throws {
        let machine = try machine()
        #expect(try read(city, at: 2, machine))
        _ = machine.handle(.write(1, [.delete(ulm)], at: time(3)))
        _ = machine.handle(.writerOpened)
        _ = machine.handle(.committed(CommitResult(commitTime: time(4))))
        // The answer to a question that was asked while the deletion was on its way.
        #expect(try !read(city, at: 5, machine))
        #expect(try read(.existing(ulm, ["pop": 127], updateTime: time(6)), at: 7, machine))
    }
}

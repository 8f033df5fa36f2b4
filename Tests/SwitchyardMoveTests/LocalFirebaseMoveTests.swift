import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite struct LocalFirebaseMoveTests {
    @Test func `From a mock to a local Firebase, and from there to an archive`() async throws {
        let bed = MoveBed()
        let old = try await MoveBed.filledMock(documents: 60)
        let server = try LocalFirebase()
        var configuration = FirebaseConfiguration(project: server.project, apiKey: "any", bucket: "photos")
        configuration.usesEmulatorVariables = false
        configuration.emulators = .init(firestore: server.host, auth: server.host, storage: server.host)
        let firebase = try await Infrastructure(FirebaseModule(configuration))
        let source = try await BackendEnd(old.infrastructure(), name: "old")
        let middle = try await BackendEnd(firebase)
        let there = Move(from: source, to: middle)
        let plan = try await there.plan()
        let report = try await there.run(plan, journal: bed.folder("there")).result()
        #expect(report.documents == 65)
        #expect(report.rejections.isEmpty, "\(report)")
        let verification = try await there.verify(plan, journal: bed.folder("there"))
        #expect(verification.isEqual, "\(verification)")
        let export = Move(from: middle, to: try ArchiveEnd(bed.folder("archive"), creates: true))
        let exportPlan = try await export.plan()
        #expect(exportPlan.documents == 65)
        #expect(exportPlan.files?.count == 7)
        _ = try await export.run(exportPlan, journal: bed.folder("export")).result()
        let exported = try await export.verify(exportPlan)
        #expect(exported.isEqual, "\(exported)")
        await firebase.shutDown()
        await server.stop()
    }

    @Test func `What a provider and a live move keep for themselves is not copied`() async throws {
        let side = try await LiveSide.firebase()
        let device = try await InfrastructureFactory(side.module(MockNetwork())).make(
            InfrastructureSelection(default: .firebase))
        try await device.storage.setDocument("items/a", ["n": 0])
        try await device.storage.updateDocument("items/a", ["n": .increment(1)]).acknowledged()
        let project = try await side.project.actingAsProject().storage
        try await project.setDocument("switchyardMoves/test", ["phase": "idle"])
        #expect(try await project.collections(under: nil).map(\.id).contains("ledger"))
        let plan = try await Move(
            from: try await BackendEnd(side.project), to: try await BackendEnd(try await MockBackend().infrastructure())
        ).plan()
        #expect(plan.collections.map(\.name) == ["items"])
        await device.shutDown()
        await side.close()
    }
}

import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite struct MoveCopyTests {
    let bed = MoveBed()

    @Test func `Everything of one mock is on another afterwards`() async throws {
        let (old, new) = (try await MoveBed.filledMock(documents: 90), MockBackend())
        let move = Move(
            from: try await BackendEnd(old.infrastructure(), name: "old"),
            to: try await BackendEnd(new.infrastructure(), name: "new"))
        let plan = try await move.plan()
        #expect(plan.collections.map(\.name) == ["notes", "orders", "things", "users"])
        #expect(plan.documents == 95)
        #expect(plan.isThorough)
        #expect(plan.accounts?.count == 5)
        #expect(plan.files?.count == 7)
        let run = try move.run(plan, journal: bed.folder("journal"))
        let report = try await run.result()
        #expect(report.documents == 95)
        #expect(report.accounts == 5)
        #expect(report.files == 7)
        #expect(report.rejections.isEmpty)
        let verification = try await move.verify(plan)
        #expect(verification.isEqual, "\(verification)")
        #expect(new.documentCount == old.documentCount)
    }

    @Test func `An archive holds everything, exactly`() async throws {
        let (old, new) = (try await MoveBed.filledMock(documents: 60, seed: 3), MockBackend())
        let source = try await BackendEnd(old.infrastructure(), name: "old")
        let archive = try ArchiveEnd(bed.folder("archive"), creates: true)
        let export = Move(from: source, to: archive)
        let plan = try await export.plan()
        _ = try await export.run(plan, journal: bed.folder("export")).result()
        #expect(try await export.verify(plan).isEqual)
        let target = try await BackendEnd(new.infrastructure(), name: "new")
        let importing = Move(from: try ArchiveEnd(bed.folder("archive")), to: target)
        _ = try await importing.run(try await importing.plan(), journal: bed.folder("import")).result()
        let verification = try await Move(from: source, to: target).verify(plan)
        #expect(verification.isEqual, "\(verification)")
    }

    @Test func `A plan names the values that the target cannot hold, and what does not take part`() async throws {
        let backend = MockBackend()
        let project = try await backend.infrastructure().actingAsProject()
        let time = Timestamp(clampingSeconds: 5, nanoseconds: 1)
        try await project.storage.setDocument(
            "things/1", ["list": .array([["at": .timestamp(time)]]), "text": "a\u{0}"] as DocumentData)
        var limits = ValueLimits(of: "firebase")
        limits.allowsZeroCharacter = false
        let document = try await project.storage.document("things/1")
        #expect(limits.problems(in: document).map(\.field) == ["list.0.at", "text"])
        #expect(
            limits.stored(try #require(document.data))["list"]?.arrayValue?.first?.mapValue?["at"]?.timestampValue?
                .nanoseconds == 0)
        try FileManager.default.createDirectory(at: bed.folder("archive/documents"), withIntermediateDirectories: true)
        try Data(#"{"format":"switchyard-archive","version":1}"#.utf8).write(
            to: bed.folder("archive").appendingPathComponent("archive.json"))
        let plan = try await Move(
            from: try ArchiveEnd(bed.folder("archive")), to: try await BackendEnd(backend.infrastructure())
        ).plan()
        #expect(plan.accounts == nil)
        #expect(plan.description.contains("The archive has no accounts."))
    }

    @Test func `A later version of the format, and a folder that is no archive, are refused`() throws {
        #expect(throws: MoveError.self) { try ArchiveEnd(bed.folder("none")) }
        try FileManager.default.createDirectory(at: bed.folder("late"), withIntermediateDirectories: true)
        try Data(#"{"format":"switchyard-archive","version":2}"#.utf8).write(
            to: bed.folder("late").appendingPathComponent("archive.json"))
        let error = #expect(throws: MoveError.self) { try ArchiveEnd(bed.folder("late")) }
        #expect(error?.message.contains("version 2 is newer") == true)
    }

    @Test func `Accounts with other IDs on the target take their documents, references, owners and files along`() {
        let rewriter = IDRewriter(["ada": "1", "bob": "2"], fields: ["owner", "team.members"])
        let document = rewriter.rewritten(
            .existing(
                "users/ada/notes/n",
                [
                    "owner": "ada", "author": "ada", "team": ["members": ["bob", "cyd"]],
                    "to": .reference(DocumentReference("users/bob")),
                    "far": .reference(DocumentReference("users/bob", origin: "elsewhere")),
                ]))
        #expect(document.path == "users/1/notes/n")
        #expect(document["owner"] == "1")
        #expect(document["author"] == "ada")
        #expect(document["team.members"] == ["2", "cyd"])
        #expect(document["to"]?.referenceValue?.path == "users/2")
        #expect(document["far"]?.referenceValue?.path == "users/bob")
        #expect(rewriter.rewritten("photos/ada.png" as FilePath) == "photos/1.png")
        #expect(rewriter.rewritten("photos/ada/bobby.png" as FilePath) == "photos/1/bobby.png")
    }

    @Test func `A throttle lets no more pass than its limit, and a new limit counts at once`() {
        let throttle = MoveThrottle(100)
        let start = ContinuousClock.now
        #expect(throttle.take(200, at: start) == nil)
        #expect(throttle.take(1, at: start) == .seconds(2))
        #expect(throttle.take(1, at: start + .seconds(1)) == .seconds(1))
        throttle.limit = 1000
        #expect(throttle.take(1, at: start + .milliseconds(1100)) == nil)
        throttle.limit = nil
        #expect(throttle.take(1_000_000, at: start) == nil)
    }
}

import Foundation
import SwitchyardMock
import Testing

@testable import Switchyard

/// What somebody reads who prints a value: what it is about, never its contents.
@Suite struct DescriptionTests {
    private let noon = Timestamp(Date(timeIntervalSince1970: 1_780_000_000.25))

    @Test func `A timestamp is a time of day`() throws {
        #expect("\(noon)" == "2026-05-28T20:26:40.250Z")
        #expect(String(reflecting: noon) == "2026-05-28T20:26:40.250Z")
        #expect("\(try Timestamp(validatingSeconds: 0, nanoseconds: 0))" == "1970-01-01T00:00:00Z")
    }

    @Test func `A write names its document and how many fields, never what is in them`() throws {
        var batch = WriteBatch()
        try batch.set("todos/1", ["title": "secret", "at": .serverTime])
        try batch.update("todos/2", ["title": "secret"])
        try batch.create("todos/3", ["title": "secret"])
        batch.delete("todos/4")
        #expect(
            batch.writes.map { "\($0)" } == [
                "set todos/1 (2 fields)", "update todos/2 (1 field)", "create todos/3 (1 field)", "delete todos/4",
            ])
        #expect("\(batch)".hasSuffix("create todos/3 (1 field) and 1 more"))
        let pending = PendingWrite(
            id: "b1", batch: WriteBatch([try .merge("todos/1", ["title": "secret"])]), queuedAt: noon, attempts: 2,
            lastError: StorageError(.unauthenticated, "The token has no claim “role”."))
        #expect(
            "\(pending)" == "merge todos/1 (1 field); queued at 2026-05-28T20:26:40.250Z; 2 attempts; "
                + "waits (unauthenticated): The token has no claim “role”.")
        let refused = RefusedWrite(
            id: "b1", batch: batch, refusedAt: noon, error: StorageError(.unauthorized, "Not allowed."))
        for text in [
            "\(pending)", "\(refused)", "\([pending])", String(reflecting: batch), String(reflecting: refused),
        ] {
            #expect(!text.contains("secret"))
        }
    }

    @Test func `Receipts, snapshots and lists are one line without contents`() async throws {
        let backend = try await Infrastructure(.mock)
        let receipt = try await backend.storage.setDocument("todos/1", ["title": "secret"])
        #expect("\(receipt)".contains("committed at 20"))
        try await backend.storage.disableNetwork()
        let waiting = try await backend.storage.setDocument("todos/2", ["title": "secret", "done": false])
        #expect("\(waiting)" == "Writing “todos/2”: queued; acknowledged() waits for the server")
        let query = Query(in: "todos").where("title", .equal, "secret").ordered(by: "done").limited(to: 5)
        #expect("\(query)" == "todos where title == …, by done, first 5")
        let found = try await backend.storage.documents(query)
        #expect(
            "\(found)" == "todos where title == …, by done, first 5: 1 document, from the cache, with pending writes")
        #expect("\(found.documents)" == "[2]")
        let document = try await backend.storage.document("todos/2")
        #expect("\(document)" == "todos/2 {done: bool, title: string} (from the cache, with pending writes)")
        #expect("\(DocumentSnapshot.missing("todos/3"))" == "todos/3 (missing)")
        #expect("\(DocumentSnapshot.existing("todos/3", [:]))" == "todos/3 {}")
        let many = DocumentData((10...32).map { ("f\($0)", .string("secret")) })
        #expect("\(DocumentSnapshot.existing("todos/3", many))".hasSuffix("f28: string, f29: string, 3 more}"))
        for text in [String(reflecting: found), String(reflecting: document), String(reflecting: query)] {
            #expect(!text.contains("secret"))
        }
        await backend.shutDown()
    }

    @Test func `Handles are their path or their query, without the client that they stand on`() {
        struct Todo: Codable, Sendable { var title: String }
        let storage = MockStorageClient()
        let todos = storage.collection("todos", of: Todo.self)
        let milk = todos.where(\.title, .equal, "secret")
        #expect("\(todos)" == "todos" && "\(todos.document("1"))" == "todos/1")
        #expect("\(milk)" == "todos where title == …")
        #expect("\(storage.collection("todos").where("title", .equal, "secret"))" == "todos where title == …")
        #expect(String(reflecting: todos.document("1")) == "TypedDocument(todos/1)")
        #expect(String(reflecting: milk) == "TypedQuery(todos where title == …)")
    }

    @Test func `The end of a switch is a line`() {
        let left = SwitchReport.LeftWrites(provider: "acme", count: 2, isOnDisk: true)
        #expect("\(SwitchReport.Drained(abandonedCalls: 0, leftWrites: []))" == "nothing left")
        #expect(
            "\(SwitchReport.Drained(abandonedCalls: 1, leftWrites: [left]))"
                == "2 writes left on acme (kept on disk); 1 call cut off")
    }

    @Test func `The progress of a transfer is a line`() {
        let progress = TransferProgress(phase: .running, completedBytes: 3_145_728, totalBytes: 10_485_760)
        #expect("\(progress)" == "running: 3145728 of 10485760 bytes (30 %)")
        #expect("\(TransferProgress(phase: .waiting, completedBytes: 0, totalBytes: nil))" == "waiting: 0 bytes")
    }
}

import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// Documents that are nested more deeply than any document of this package may be.
@Suite struct DeepDocumentTests {
    private final class DeepDriver: ForwardingDriver {
        let base = ModelDriver(ModelServer())

        static func data(_ depth: Int) -> DocumentData {
            var value: DocumentValue = 1
            for level in 0..<depth { value = level.isMultiple(of: 2) ? .map(["m": value]) : .array([value]) }
            return ["n": .of(depth), "deep": value]
        }

        func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
            FetchedDocuments(
                documents: [1, 199, 200, 201, 400].map { depth in
                    DocumentSnapshot(
                        path: StoragePath(unchecked: "deep/d\(depth)"), data: Self.data(depth), createTime: nil,
                        updateTime: Timestamp(microseconds: 5), metadata: SnapshotMetadata())
                }, readTime: Timestamp(microseconds: 6))
        }
    }

    @Test func `A document that is nested too deeply is not kept, and damages nothing`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        func open() -> SyncedStorageClient {
            SyncedStorageClient(
                SyncEngine(
                    DeepDriver(), .folder(folder.url), userID: nil, clock: FastClock(),
                    now: { Timestamp(microseconds: 77_000_000) }, chance: { 0.5 }))
        }
        let client = open()
        try await client.disableNetwork()
        try await client.setDocument("notes/a", ["n": 1])
        try await client.enableNetwork()
        let query = Query(in: "deep").ordered(by: "n")
        #expect(try await client.documents(query, from: .server).documents.count == 5)
        await client.shutDown()

        let again = open()
        try await again.disableNetwork()
        let kept = try await again.documents(query, from: .cache).documents
        #expect(kept.map(\.id) == ["d1", "d199"])
        #expect(kept.last?.data == DeepDriver.data(199))
        #expect(try await again.queue.count <= 1, "the queue is read")
        #expect(try await again.setAsideData() == nil)
        await again.shutDown()
    }
}

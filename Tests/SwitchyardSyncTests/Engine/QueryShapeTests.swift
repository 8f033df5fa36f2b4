import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// What lies before an offset is read, but is no part of the result.
@Suite struct QueryShapeTests {
    @Test func `A result behind an offset has pending writes only where one of its documents has`() async throws {
        let client = device(ModelServer(), .memory, user: "alice")
        try await client.setDocument("a/2", ["n": 2]).acknowledged()
        let query = Query(in: "a").skipping(1)
        let stream = client.snapshots(of: query, options: ListenOptions(includesMetadataChanges: true))
        var iterator = stream.makeAsyncIterator()
        _ = try await iterator.next()
        try await client.disableNetwork()
        try await client.setDocument("a/1", ["n": 1])
        var seen = try await iterator.next()
        while let snapshot = seen, snapshot.documents.isEmpty { seen = try await iterator.next() }
        #expect(seen?.documents.map(\.id) == ["2"])
        #expect(seen?.metadata.hasPendingWrites == false)
        #expect(try await client.documents(query).metadata.hasPendingWrites == false)
        try await client.setDocument("a/2", ["n": 3])
        while let snapshot = seen, snapshot.documents.first?["n"] != 3 { seen = try await iterator.next() }
        #expect(seen?.metadata.hasPendingWrites == true)
        #expect(try await client.documents(query).metadata.hasPendingWrites == true)
        await client.shutDown()
    }
}

import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// Pages read from the server while this device has writes that the server does not know.
@Suite(.timeLimit(.minutes(1))) struct PendingPagesTests {
    private let driver = FailingDriver(ModelServer())
    private let client: SyncedStorageClient

    init() async throws {
        client = SyncedStorageClient(driver: driver, clock: FastClock())
        for (number, name) in "abcdefghij".enumerated() {
            try await client.setDocument("items/\(name)", ["n": .of(number)]).acknowledged()
        }
        driver.failure.withLock { $0 = StorageError(.unavailable, "The server takes no writes.") }
    }

    private func pages(_ query: Query, size: Int) async throws -> [[String]] {
        var result: [[String]] = []
        for try await page in client.pages(of: query, size: size, from: .server) {
            result.append(page.documents.map(\.id))
        }
        return result
    }

    @Test(arguments: [1, 2, 3, 100])
    func `Pages whose documents this device has deleted are not the end`(_ size: Int) async throws {
        for name in "cdefj" { try await client.deleteDocument("items/\(name)") }
        let found = try await pages(Query(in: "items"), size: size)
        #expect(found.flatMap(\.self) == ["a", "b", "g", "h", "i"])
        #expect(found.allSatisfy { !$0.isEmpty && $0.count <= size })
        await client.shutDown()
    }

    @Test(arguments: [1, 2, 3, 100])
    func `Documents that only this device knows come in their turn, and push none out`(_ size: Int) async throws {
        try await client.setDocument("items/b2", ["n": 1])
        try await client.setDocument("items/z", ["n": 50])
        try await client.deleteDocument("items/c")
        // Moves to the end.
        try await client.updateDocument("items/a", ["n": 40])
        let found = try await pages(Query(in: "items").ordered(by: "n"), size: size)
        #expect(found.flatMap(\.self) == ["b", "b2", "d", "e", "f", "g", "h", "i", "j", "a", "z"])
        await client.shutDown()
    }

    @Test func `A limited result has no document from behind others that the server did not send`() async throws {
        try await client.setDocument("items/z", ["n": 50])
        try await client.deleteDocument("items/b")
        let found = try await client.documents(Query(in: "items").limited(to: 2), from: .server)
        #expect(found.documents.map(\.id) == ["a"])
        await client.shutDown()
    }

    @Test func `A scan visits what is behind documents that were deleted here`() async throws {
        for name in "abcd" { try await client.deleteDocument("items/\(name)") }
        let seen = Mutex<[String]>([])
        try await client.forEachDocument(Query(in: "items"), pageSize: 2) { document in
            seen.withLock { $0.append(document.id) }
        }
        #expect(seen.withLock { $0 } == ["e", "f", "g", "h", "i", "j"])
        await client.shutDown()
    }
}

import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct MockFolderTests {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("mock-folder-\(UInt64.random(in: 0 ... .max))", isDirectory: true)

    private func context() -> ModuleContext { ModuleContext() }
    private func module() -> MockModule { MockModule(MockConfiguration(folder: folder)) }

    @Test func `Documents of every kind outlast the process`() async throws {
        let data: DocumentData = [
            "null": .null, "bool": true, "integer": .integer(.max), "zero": .double(-0.0), "nan": .double(.nan),
            "text": "é\u{301}\u{0}\"", "time": .timestamp(try Timestamp(validatingSeconds: -5, nanoseconds: 7)),
            "bytes": .bytes(Data([0, 255])), "reference": .reference(DocumentReference("a/b", origin: "other")),
            "place": .geoPoint(try GeoPoint(latitude: 1.5, longitude: -2.25)), "vector": .vector([1, .infinity]),
            "array": [1, "two", .map(["three": 3])], "map": .map(["empty": .map([:]), "list": []]),
        ]
        let first = MockStorageClient(try MockBackend(folder: folder))
        try await first.setDocument("a/1", data)
        try await first.setDocument("a/2", ["n": 1])
        try await first.deleteDocument("a/2")
        let before = try await first.snapshot("a/1")
        let later = try MockBackend(folder: folder)
        #expect(later.documentCount == 1)
        #expect(try await MockStorageClient(later).snapshot("a/1") == before)
    }

    @Test func `A waiting write goes out after a restart, once`() async throws {
        let network = MockNetwork()
        let first = try MockStorageClient(try MockBackend(folder: folder), network: network, keptAs: "phone")
        try await first.setDocument("a/1", ["n": 1])
        network.isOnline = false
        try await first.updateDocument("a/1", ["n": .increment(1), "tags": .arrayUnion("x"), "at": .serverTime])
        await first.shutDown()

        let backend = try MockBackend(folder: folder)
        let second = try MockStorageClient(backend, keptAs: "phone")
        try await second.waitForPendingWrites()
        #expect(try await second.snapshot("a/1", from: .server)["n"] == 2)
        #expect(try await second.snapshot("a/1", from: .server)["tags"] == ["x"])
        await second.shutDown()

        let third = try MockStorageClient(try MockBackend(folder: folder), keptAs: "phone")
        // The queue on disk may lag behind the answer; then the write goes out again, and takes effect no second time.
        try await third.waitForPendingWrites()
        #expect(try await firstValue(of: third.pendingWrites())?.isEmpty == true)
        #expect(try await third.snapshot("a/1", from: .server)["n"] == 2)
    }

    @Test func `Accounts and the session outlast the process`() async throws {
        let auth = try await module().makeAuthClient(context())
        let user = try await auth.signUp(email: "alice@example.com", password: "secret")
        let later = try await module().makeAuthClient(context())
        #expect(await later.currentUser?.id == user.id)
        _ = try await later.accessToken(refreshing: true)
        try await later.signOut()
        try await later.signIn(email: "alice@example.com", password: "secret")
        let text = try String(contentsOf: folder.appendingPathComponent("accounts.json"), encoding: .utf8)
        #expect(!text.contains("\"secret\""))
    }

    @Test func `Files and half an upload outlast the process`() async throws {
        let source = folder.appendingPathComponent("source.txt")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 600_000).write(to: source)
        let files = try await module().makeFileStorageClient(context())
        try await files.put(Data("x".utf8), at: "a.txt")
        let controls = try #require(files.unwrapped(as: MockFileStorageClient.self)).controls
        controls.fail(.uploadPart, onCall: 3, with: FileStorageError(.unavailable, "Gone."))
        await #expect(throws: FileStorageError.self) { try await files.upload(.file(source), to: "b.bin").result() }

        let later = try await module().makeFileStorageClient(context())
        #expect(try await later.data(at: "a.txt") == Data("x".utf8))
        let interrupted = try #require(try await later.interruptedUploads().first)
        #expect(interrupted.completedBytes == 2 * 262_144)
        #expect(try await later.resumeUpload(interrupted.id).result().size == 600_000)
        #expect(try await later.data(at: "b.bin") == Data(repeating: 7, count: 600_000))
    }

    @Test func `A damaged file is reported and set aside, never emptied`() async throws {
        try await MockStorageClient(try MockBackend(folder: folder)).setDocument("a/1", ["n": 1])
        let file = folder.appendingPathComponent("documents.json")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count - 20] ^= 1
        try bytes.write(to: file)
        do throws(InfrastructureError) {
            _ = try MockBackend(folder: folder)
            Issue.record("The damage went unnoticed.")
        } catch {
            #expect(error.code == .localStore)
            #expect(error.message.contains("documents.json.damaged"))
        }
        #expect(try Data(contentsOf: folder.appendingPathComponent("documents.json.damaged")) == bytes)
        #expect(try MockBackend(folder: folder).documentCount == 0)
    }

    @Test func `A file cut short at any byte is never taken for a whole one`() async throws {
        try await MockStorageClient(try MockBackend(folder: folder)).setDocument("a/1", ["n": 1])
        let file = folder.appendingPathComponent("documents.json")
        let whole = try Data(contentsOf: file)
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: file)
            #expect(throws: InfrastructureError.self) { try MockBackend(folder: folder) }
        }
        try whole.write(to: file)
        #expect(try MockBackend(folder: folder).documentCount == 1)
    }

    @Test func `A folder that cannot be written is a typed error`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let blocked = folder.appendingPathComponent("file")
        try Data().write(to: blocked)
        #expect(throws: InfrastructureError.self) {
            try MockBackend(folder: blocked.appendingPathComponent("inside", isDirectory: true))
        }
    }

    @Test func `The configuration reads what people write`() throws {
        let json = Data("{\"folder\": \"/tmp/x\", \"latencyMilliseconds\": 20}".utf8)
        let configuration = try JSONDecoder().decode(MockConfiguration.self, from: json)
        #expect(configuration.folder?.path == "/tmp/x")
        #expect(configuration.latencyMilliseconds == 20 && !configuration.hasSampleData)
        let again = try JSONDecoder().decode(MockConfiguration.self, from: JSONEncoder().encode(configuration))
        #expect(again == configuration)
        #expect(throws: InfrastructureError.self) {
            try MockModule(MockConfiguration(latencyMilliseconds: -1)).validate()
        }
    }
}

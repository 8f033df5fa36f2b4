import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite final class MockFileTests {
    let time = TestTime()
    let backend: MockBackend
    let network = MockNetwork()
    let store = MockUploadStore()
    let files: MockFileStorageClient
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("mock-files-\(UInt64.random(in: 0 ... .max))", isDirectory: true)

    deinit { try? FileManager.default.removeItem(at: folder) }

    init() {
        let time = time
        backend = MockBackend(now: { time.now })
        files = MockFileStorageClient(backend, network: network, store: store, partSize: 4)
    }

    private func temporary(_ text: String) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("source")
        try Data(text.utf8).write(to: url)
        return url
    }

    @Test func `What was uploaded comes back, whole and in ranges`() async throws {
        let metadata = try await files.put(Data("hello, world".utf8), at: "notes/a.txt")
        #expect(metadata.size == 12 && metadata.contentType == "text/plain")
        #expect(metadata.md5 == "e4d7f1b4ed2e42d15898f4b27b019da4")
        #expect(try await files.data(at: "notes/a.txt", range: 7..<99, limit: 99) == Data("world".utf8))
        var parts: [Data] = []
        for try await part in files.bytes(of: "notes/a.txt") { parts.append(part) }
        #expect(parts.map(\.count) == [4, 4, 4])
        await #expect(throws: FileStorageError.self) {
            try await files.data(at: "notes/a.txt", range: 12..<13, limit: 99)
        }
        await #expect(throws: FileStorageError.self) { try await files.data(at: "notes/a.txt", range: nil, limit: 3) }
    }

    @Test func `Progress is reported to the end`() async throws {
        let clock = ManualClock()
        let slow = MockFileStorageClient(
            backend, network: MockNetwork(clock: clock, latency: .seconds(1)), partSize: 4)
        let transfer = try await slow.upload(.data(Data(count: 10)), to: "a.bin")
        let seen = Gathered(transfer.progress)
        for _ in 0..<4 {
            try await eventually("the next part is on its way") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
            try await eventually("it was sent") { clock.sleeperCount == 1 || seen.last?.phase == .finished }
        }
        #expect(try await transfer.result().size == 10)
        try await eventually("the end") { seen.last?.phase == .finished }
        #expect(seen.last?.fraction == 1)
        #expect(seen.all.map(\.completedBytes) == seen.all.map(\.completedBytes).sorted())
    }

    @Test(.timeLimit(.minutes(1))) func `A reader of the progress that comes as it ends gets the end`() async throws {
        for _ in 0..<500 {
            let transfer = try await files.upload(.data(Data([1])), to: "a.bin")
            await withTaskGroup(of: TransferProgress.Phase?.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var last: TransferProgress?
                        for await progress in transfer.progress { last = progress }
                        return last?.phase
                    }
                }
                for await phase in group { #expect(phase == .finished) }
            }
        }
    }

    @Test func `A paused upload goes on where it stopped`() async throws {
        let clock = ManualClock()
        let slow = MockFileStorageClient(
            backend, network: MockNetwork(clock: clock, latency: .seconds(1)), partSize: 4)
        let transfer = try await slow.upload(.data(Data(count: 6)), to: "a.bin")
        let seen = Gathered(transfer.progress)
        try await eventually("the upload begins") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await eventually("the first part is on its way") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await eventually("the rest is on its way") { seen.last?.completedBytes == 4 && clock.sleeperCount == 1 }
        await transfer.pause()
        try await eventually("it stands still") { seen.last?.phase == .paused && seen.last?.completedBytes == 4 }
        try await eventually("nothing is on its way") { clock.sleeperCount == 0 }
        await transfer.resume()
        try await eventually("the server is asked how far it has come") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await eventually("the rest is on its way again") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        #expect(try await transfer.result().size == 6)
    }

    @Test func `A cancelled upload leaves nothing behind`() async throws {
        let clock = ManualClock()
        let slow = MockFileStorageClient(
            backend, network: MockNetwork(clock: clock, latency: .seconds(1)), store: store, partSize: 4)
        let source = try temporary("0123456789")
        let transfer = try await slow.upload(.file(source), to: "a.bin")
        try await eventually("the first part is on its way") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await eventually("the second part is on its way") { clock.sleeperCount == 1 }
        await transfer.cancel()
        await #expect(throws: FileStorageError.self) { try await transfer.result() }
        #expect(try await slow.interruptedUploads().isEmpty)
        #expect(backend.files.paths.isEmpty)
    }

    @Test func `An interrupted upload goes on in another client of the device`() async throws {
        let source = try temporary("0123456789")
        files.controls.fail(.uploadPart, onCall: 3, with: FileStorageError(.unavailable, "Gone."))
        await #expect(throws: FileStorageError.self) { try await files.upload(.file(source), to: "a.txt").result() }
        await files.shutDown()
        let later = MockFileStorageClient(backend, store: store, partSize: 4)
        let interrupted = try #require(try await later.interruptedUploads().first)
        #expect(interrupted.completedBytes == 8 && interrupted.totalBytes == 10)
        _ = try await later.resumeUpload(interrupted.id).result()
        #expect(try await later.data(at: "a.txt") == Data("0123456789".utf8))
        #expect(try await later.interruptedUploads().isEmpty)
    }

    @Test func `A file that changed is not sent on`() async throws {
        let source = try temporary("0123456789")
        files.controls.fail(.uploadPart, onCall: 3, with: FileStorageError(.unavailable, "Gone."))
        await #expect(throws: FileStorageError.self) { try await files.upload(.file(source), to: "a.txt").result() }
        try Data("9876543210".utf8).write(to: source)
        let interrupted = try #require(try await files.interruptedUploads().first)
        do throws(FileStorageError) {
            _ = try await files.resumeUpload(interrupted.id)
            Issue.record("The upload went on.")
        } catch {
            #expect(error.code == .changed)
        }
    }

    @Test func `A listing has pages, and folders once`() async throws {
        for name in ["a/1", "a/2", "a/b/3", "a/b/4", "a/c", "z"] {
            try await files.put(Data(), at: FilePath(validating: name))
        }
        let first = try await files.list("a", pageSize: 3, page: nil)
        #expect(first.files.map(\.path) == ["a/1", "a/2"] && first.folders == ["a/b"])
        let second = try await files.list("a", pageSize: 3, page: first.nextPage)
        #expect(second.files.map(\.path) == ["a/c"] && second.folders.isEmpty && second.nextPage == nil)
    }

    @Test func `An address is good until it expires`() async throws {
        try await files.put(Data("x".utf8), at: "a.txt")
        let url = try await files.downloadURL(of: "a.txt", expiresIn: .seconds(60))
        let lasting = try await files.downloadURL(of: "a.txt", expiresIn: nil)
        #expect(backend.files.contents(of: url) == Data("x".utf8))
        time.advance(by: .seconds(61))
        #expect(backend.files.contents(of: url) == nil)
        #expect(backend.files.contents(of: lasting) == Data("x".utf8))
    }

    @Test func `Without a word about its end, an address has the end that the provider's usually have`() async throws {
        try await files.put(Data("x".utf8), at: "a.txt")
        let url = try await files.downloadURL(of: "a.txt")
        time.advance(by: .seconds(3599))
        #expect(backend.files.contents(of: url) == Data("x".utf8))
        time.advance(by: .seconds(2))
        #expect(backend.files.contents(of: url) == nil)
        var endless = FileStorageCapabilities.all
        endless.expiringURLs = false
        let lasting = try await MockFileStorageClient(backend, capabilities: endless).downloadURL(of: "a.txt")
        time.advance(by: .seconds(86_400))
        #expect(backend.files.contents(of: lasting) == Data("x".utf8))
    }

    @Test func `A download appears whole or not at all`() async throws {
        try await files.put(Data("0123456789".utf8), at: "a.txt")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let target = folder.appendingPathComponent("target")
        files.controls.fail(.downloadPart, onCall: 2, with: FileStorageError(.unavailable, "Gone."))
        await #expect(throws: FileStorageError.self) { try await files.download("a.txt", to: target).result() }
        #expect(!FileManager.default.fileExists(atPath: target.path))
        _ = try await files.download("a.txt", to: target).result()
        #expect(try Data(contentsOf: target) == Data("0123456789".utf8))
    }

    @Test func `A stream that ends early is no file`() async throws {
        let source = UploadSource.stream(length: 10) {
            AsyncThrowingStream { continuation in
                continuation.yield(Data(count: 4))
                continuation.finish()
            }
        }
        await #expect(throws: FileStorageError.self) { try await files.upload(source, to: "a.bin").result() }
        #expect(backend.files.paths.isEmpty)
    }
}

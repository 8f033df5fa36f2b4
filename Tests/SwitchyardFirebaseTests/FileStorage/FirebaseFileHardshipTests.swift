import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// The real transport against the local server, with something going wrong at every place.
@Suite struct FirebaseFileHardshipTests {
    private func bytes(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })
    }

    /// A site whose clients wait no time between attempts.
    private func site() throws -> (LocalFilesSite, ImpatientClock) { (try LocalFilesSite(), ImpatientClock()) }

    private static func isPart(_ request: ServerRequest) -> Bool {
        request.headers["X-Goog-Upload-Command"]?.hasPrefix("upload") == true
    }

    @Test func `The answer to each kind of call is lost once, and the file is right`() async throws {
        let (site, clock) = try site()
        let contents = bytes(3_000_000)
        for command in ["start", "upload", "upload, finalize", "query"] {
            site.firebase.faults.add(.dropAnswer(reset: true)) { $0.headers["X-Goog-Upload-Command"] == command }
        }
        let client = try site.client(clock: clock)
        let stored = try await client.put(contents, at: "film.bin")
        #expect(stored.size == 3_000_000)
        #expect(site.firebase.files.contents(of: "film.bin", in: LocalFilesSite.bucket) == [UInt8](contents))
        await client.shutDown()
        await site.stop()
    }

    @Test func `A burst of errors delays an upload, a download, a list and a deletion, and nothing else`() async throws
    {
        let (site, clock) = try site()
        let client = try site.client(clock: clock)
        let contents = bytes(700_000)
        func burst() {
            site.firebase.faults.add(.answer(ServerResponse(status: 503)), times: 3)
            site.firebase.faults.add(.answer(ServerResponse(status: 429, headers: ["Retry-After": "1"])), times: 2)
        }
        burst()
        try await client.put(contents, at: "a/film.bin")
        burst()
        #expect(try await client.data(at: "a/film.bin") == contents)
        burst()
        #expect(try await client.list("a").files.map(\.path) == ["a/film.bin"])
        burst()
        #expect(
            try await client.updateMetadata(of: "a/film.bin", FileMetadataChanges(contentType: "video/x")).contentType
                == "video/x")
        burst()
        try await client.delete("a/film.bin")
        await client.shutDown()
        await site.stop()
    }

    @Test func `A deletion whose answer was lost has happened`() async throws {
        let (site, clock) = try site()
        let client = try site.client(clock: clock)
        try await client.put(bytes(10), at: "a.txt")
        site.firebase.faults.add(.dropAnswer(reset: true)) { $0.method == .delete }
        try await client.delete("a.txt")
        let error = await #expect(throws: FileStorageError.self) { try await client.delete("a.txt") }
        #expect(error?.code == .notFound)
        await client.shutDown()
        await site.stop()
    }

    @Test func `A download whose body is cut again and again is whole`() async throws {
        let (site, clock) = try site()
        let client = try site.client(clock: clock)
        let contents = bytes(2_000_000)
        try await client.put(contents, at: "film.bin")
        for count in [100, 300_000, 700_000, 1000] {
            site.firebase.faults.add(.cutAnswer(after: count, reset: count > 500)) { $0.query("alt") == "media" }
        }
        let file = site.folder.appendingPathComponent("copy.bin")
        let metadata = try await client.download("film.bin", to: file).result()
        #expect(metadata.size == 2_000_000)
        #expect(try Data(contentsOf: file) == contents)
        site.firebase.faults.add(.cutAnswer(after: 400_000)) { $0.query("alt") == "media" }
        #expect(
            try await client.data(at: "film.bin", range: 1000..<1_900_000, limit: 4 << 20) == contents[1000..<1_900_000]
        )
        await client.shutDown()
        await site.stop()
    }

    @Test func `An upload outlives its process, also when the server has more than was known`() async throws {
        let (site, clock) = try site()
        let contents = bytes(6_000_000)
        let file = site.folder.appendingPathComponent("film.bin")
        try contents.write(to: file)
        let first = try site.client(clock: clock)
        // The third part is stored, its answer lost, and then there is silence.
        let gate = Gate()
        site.firebase.faults.add(.dropAnswer(reset: true), after: 2, when: Self.isPart)
        site.firebase.faults.add(.holdRequest(gate)) { $0.headers["X-Goog-Upload-Command"] == "query" }
        _ = try await first.upload(.file(file), to: "film.bin")
        try await eventually("the server is asked how far it is") { gate.waiting > 0 }
        await first.shutDown()
        gate.open()
        let second = try site.reopened(first)
        let uploads = try await second.interruptedUploads()
        try #require(uploads.count == 1)
        #expect(uploads[0].completedBytes == 3 * 256 << 10)
        let transfer = try await second.resumeUpload(uploads[0].id)
        #expect(try await transfer.result().size == 6_000_000)
        #expect(site.firebase.files.contents(of: "film.bin", in: LocalFilesSite.bucket) == [UInt8](contents))
        #expect(try await second.interruptedUploads().isEmpty)
        await second.shutDown()
        await site.stop()
    }

    @Test func `An upload that was interrupted is its owner's, whoever uses the device next`() async throws {
        let site = try LocalFilesSite()
        let file = site.folder.appendingPathComponent("film.bin")
        try bytes(3_000_000).write(to: file)
        let first = try site.client()
        let gate = Gate()
        site.firebase.faults.add(.holdAnswer(gate), after: 1, when: Self.isPart)
        _ = try await first.upload(.file(file), to: "film.bin")
        try await eventually("the second part is there") { gate.waiting > 0 }
        await first.shutDown()
        gate.open()
        let again = try site.reopened(first)
        let id = try #require(try await again.interruptedUploads().first).id
        let bob = try site.reopened(first, user: "bob")
        #expect(try await bob.interruptedUploads().isEmpty)
        let error = await #expect(throws: FileStorageError.self) { try await bob.resumeUpload(id) }
        #expect(error?.code == .notFound)
        #expect(try await again.interruptedUploads().map(\.id) == [id])
        #expect(try await again.resumeUpload(id).result().size == 3_000_000)
        await bob.shutDown()
        await again.shutDown()
        await site.stop()
    }

    @Test func `Uploads that the server has forgotten end as such`() async throws {
        let site = try LocalFilesSite()
        let file = site.folder.appendingPathComponent("film.bin")
        try bytes(3_000_000).write(to: file)
        let first = try site.client()
        let gate = Gate()
        site.firebase.faults.add(.holdAnswer(gate), after: 1, when: Self.isPart)
        _ = try await first.upload(.file(file), to: "film.bin")
        try await eventually("the second part is there") { gate.waiting > 0 }
        await first.shutDown()
        gate.open()
        site.firebase.files.forgetUploads()
        let second = try site.reopened(first)
        let uploads = try await second.interruptedUploads()
        let id = try #require(uploads.first).id
        let error = await #expect(throws: FileStorageError.self) { try await second.resumeUpload(id).result() }
        #expect(error?.code == .uploadExpired)
        #expect(try await second.interruptedUploads().isEmpty)
        await second.shutDown()
        await site.stop()
    }

    @Test func `A paused upload goes on from what the server got of the part that was stopped`() async throws {
        let (site, clock) = try site()
        let client = try site.client(clock: clock)
        let contents = bytes(5_000_000)
        let gate = Gate()
        site.firebase.faults.add(.holdRequest(gate), after: 1, when: Self.isPart)
        let transfer = try await client.upload(.data(contents), to: "film.bin")
        try await eventually("the second part is under way") { gate.waiting > 0 }
        await transfer.pause()
        for await progress in transfer.progress where progress.phase == .paused { break }
        gate.open()
        await transfer.resume()
        #expect(try await transfer.result().size == 5_000_000)
        #expect(site.firebase.files.contents(of: "film.bin", in: LocalFilesSite.bucket) == [UInt8](contents))
        await client.shutDown()
        await site.stop()
    }
}

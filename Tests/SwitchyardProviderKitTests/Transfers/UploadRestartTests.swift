import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardProviderKit
import SwitchyardTestSupport
import Testing

/// What outlasts the process.
@Suite(.timeLimit(.minutes(1))) struct UploadRestartTests {
    /// The parts are 10, 20 and 40 bytes: the third hangs with 30 confirmed.
    private func hangThirdPart(_ bench: TransferBench) { bench.server.fail("send", .none, .none, .hang) }

    /// An upload of 100 bytes that was shut down when 30 of them were confirmed and more may have arrived.
    private func interrupted(_ bench: TransferBench, _ contents: [UInt8]) async throws -> URL {
        let file = try bench.file(contents)
        let transfer = try bench.upload(.file(file))
        try await eventually("it has come to the part that hangs") {
            bench.server.calls.filter { $0.hasPrefix("send") }.count == 3
        }
        await bench.manager.shutDown()
        let error = await #expect(throws: FileStorageError.self) { try await transfer.result() }
        #expect(error?.code == .shutDown)
        return file
    }

    @Test func `An upload goes on in another process, from where the server is`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let contents = TransferBench.bytes(100)
        hangThirdPart(bench)
        _ = try await interrupted(bench, contents)
        let manager = bench.restarted()
        let uploads = try manager.interruptedUploads(of: "")
        try #require(uploads.count == 1)
        #expect(uploads[0].path == bench.server.path)
        #expect(uploads[0].completedBytes == 30)
        #expect(uploads[0].totalBytes == 100)
        let transfer = try manager.resume(uploads[0].id, of: "") { _ in bench.server }
        #expect(try manager.interruptedUploads(of: "").isEmpty)
        #expect(try await transfer.result().size == 100)
        #expect(bench.server.contents == contents)
        #expect(try manager.interruptedUploads(of: "").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.uploads.path).isEmpty)
    }

    @Test func `An upload is its owner's, and one of which no owner is known is forgotten`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        hangThirdPart(bench)
        _ = try await interrupted(bench, TransferBench.bytes(100))
        let manager = bench.restarted()
        #expect(try manager.interruptedUploads(of: "bob").isEmpty)
        let id = try #require(try manager.interruptedUploads(of: UploadSession.noUser).first).id
        let error = #expect(throws: FileStorageError.self) { try manager.resume(id, of: "bob") { _ in bench.server } }
        #expect(error?.code == .notFound)
        // As an earlier version has written it.
        let record = bench.uploads.appendingPathComponent("\(id).upload")
        let text = try String(contentsOf: record, encoding: .utf8).replacing(#","owner":"""#, with: "")
            .replacing(#""owner":"","#, with: "")
        #expect(!text.contains("owner"))
        try Data(text.utf8).write(to: record)
        #expect(throws: FileStorageError.self) { try manager.resume(id, of: "") { _ in bench.server } }
        #expect(try manager.interruptedUploads(of: "").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.uploads.path).isEmpty)
    }

    @Test func `The folder is its owner's alone`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        hangThirdPart(bench)
        _ = try await interrupted(bench, TransferBench.bytes(100))
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.uploads.path)
        try #require(names.count == 1)
        let record = bench.uploads.appendingPathComponent(names[0]).path
        let attributes = try FileManager.default.attributesOfItem(atPath: record)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let around = try FileManager.default.attributesOfItem(atPath: bench.uploads.path)
        #expect(around[.posixPermissions] as? Int == 0o700)
    }

    @Test func `A file that has changed does not go on, and is forgotten`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        hangThirdPart(bench)
        let file = try await interrupted(bench, TransferBench.bytes(100))
        let manager = bench.restarted()
        let id = try #require(try manager.interruptedUploads(of: "").first).id
        try Data(repeating: 7, count: 100).write(to: file)
        let error = #expect(throws: FileStorageError.self) { try manager.resume(id, of: "") { _ in bench.server } }
        #expect(error?.code == .changed)
        #expect(try manager.interruptedUploads(of: "").isEmpty)
    }

    @Test func `An upload that the server has forgotten says so and is forgotten here too`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        hangThirdPart(bench)
        _ = try await interrupted(bench, TransferBench.bytes(100))
        bench.server.forgetSessions()
        let manager = bench.restarted()
        let id = try #require(try manager.interruptedUploads(of: "").first).id
        let error = await #expect(throws: FileStorageError.self) {
            try await manager.resume(id, of: "") { _ in bench.server }.result()
        }
        #expect(error?.code == .uploadExpired)
        #expect(try manager.interruptedUploads(of: "").isEmpty)
    }

    @Test func `No one goes on with what somebody else runs`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .hang)
        let transfer = try bench.upload(.file(bench.file(TransferBench.bytes(100))))
        try await eventually("a part is under way") { bench.server.calls.count == 2 }
        let other = bench.restarted()
        #expect(try other.interruptedUploads(of: "").isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.uploads.path)
        let id = try #require(names.first { $0.hasSuffix(".upload") }).dropLast(7)
        let error = #expect(throws: FileStorageError.self) {
            try other.resume(String(id), of: "") { _ in bench.server }
        }
        #expect(error?.code == .notFound)
        await transfer.cancel()
    }

    @Test func `A damaged note is set aside, and no name leads out of the folder`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        try FileManager.default.createDirectory(at: bench.uploads, withIntermediateDirectories: true)
        try Data("{".utf8).write(to: bench.uploads.appendingPathComponent("broken.upload"))
        #expect(try bench.manager.interruptedUploads(of: "").isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: bench.uploads.path) == ["broken.upload.damaged"])
        for id in ["../broken", "", "a/b", String(repeating: "x", count: 65)] {
            let error = #expect(throws: FileStorageError.self) {
                try bench.manager.resume(id, of: "") { _ in bench.server }
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `An ID that leads out of the folder touches nothing there`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        try FileManager.default.createDirectory(at: bench.uploads, withIntermediateDirectories: true)
        let victims = ["victim", "victim.lock", "victim.upload"].map { bench.folder.appendingPathComponent($0) }
        for victim in victims { try Data("mine".utf8).write(to: victim) }
        for id in ["../victim", "../../\(bench.folder.lastPathComponent)/victim", bench.folder.path + "/victim"] {
            let error = #expect(throws: FileStorageError.self) {
                try bench.manager.resume(id, of: "") { _ in bench.server }
            }
            #expect(error?.code == .notFound)
        }
        for victim in victims { #expect(try Data(contentsOf: victim) == Data("mine".utf8)) }
    }

    @Test func `A file that is missing has not changed, and its upload goes on once it is back`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let contents = TransferBench.bytes(100)
        hangThirdPart(bench)
        let file = try await interrupted(bench, contents)
        let manager = bench.restarted()
        let id = try #require(try manager.interruptedUploads(of: "").first).id
        let away = bench.folder.appendingPathComponent("away")
        try FileManager.default.moveItem(at: file, to: away)
        let error = #expect(throws: FileStorageError.self) { try manager.resume(id, of: "") { _ in bench.server } }
        #expect(error?.code == .localFile)
        #expect(try manager.interruptedUploads(of: "").map(\.id) == [id])
        try FileManager.default.moveItem(at: away, to: file)
        _ = try await manager.resume(id, of: "") { _ in bench.server }.result()
        #expect(bench.server.contents == contents)
    }

    @Test func `A file that goes missing during the upload leaves the record`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .none, .hang)
        let file = try bench.file(TransferBench.bytes(100))
        let transfer = try bench.upload(.file(file))
        try await eventually("the second part is under way") { bench.server.calls.count == 3 }
        try FileManager.default.moveItem(at: file, to: bench.folder.appendingPathComponent("away"))
        await transfer.pause()
        await transfer.resume()
        let error = await #expect(throws: FileStorageError.self) { try await transfer.result() }
        #expect(error?.code == .localFile)
        #expect(try bench.manager.interruptedUploads(of: "").count == 1)
        #expect(!bench.server.calls.contains("abandon"))
    }

    @Test(arguments: [true, false])
    func `An update that moves everything the app keeps interrupts no upload`(_ areApart: Bool) async throws {
        let (server, clock) = (MemoryFileServer(), ManualClock())
        let root = ScratchSpace.url.appendingPathComponent("app-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: root) }
        func manager(_ app: String) -> TransferManager {
            let home = root.appendingPathComponent(app, isDirectory: true)
            let uploads = (areApart ? root : home).appendingPathComponent("Library/uploads", isDirectory: true)
            return TransferManager(
                TransferPolicy(firstPart: 10, largestPart: 80, wholeLimit: 0),
                records: UploadRecords(folder: uploads, home: areApart ? home : URL(fileURLWithPath: "/nowhere")),
                tries: RetryingCaller(clock: clock), now: { Timestamp(clampingSeconds: 0, nanoseconds: 0) })
        }
        let film = root.appendingPathComponent("before/Documents/film.bin")
        try FileManager.default.createDirectory(
            at: film.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(TransferBench.bytes(100)).write(to: film)
        server.fail("send", .none, .hang)
        let before = manager("before")
        let transfer = try before.upload(
            UploadContent(.file(film)), to: server.path, UploadOptions(), of: "", driver: server)
        try await eventually("the second part is under way") { server.calls.count == 3 }
        await before.shutDown()
        _ = await #expect(throws: FileStorageError.self) { try await transfer.result() }
        try FileManager.default.moveItem(
            at: root.appendingPathComponent("before"), to: root.appendingPathComponent("after"))
        let after = manager("after")
        let upload = try #require(try after.interruptedUploads(of: "").first)
        #expect(upload.file.path.hasSuffix("/after/Documents/film.bin"))
        _ = try await after.resume(upload.id, of: "") { _ in server }.result()
        #expect(server.contents == TransferBench.bytes(100))
    }

    @Test func `A wipe ends uploads of its user that have no record yet`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let auth = MockAuthClient()
        let alice = try await auth.signUp(email: "alice@example.com", password: "secret").get().id
        let manager = TransferManager(
            TransferPolicy(firstPart: 10, largestPart: 80, wholeLimit: 0),
            records: UploadRecords(folder: bench.uploads), tries: RetryingCaller(clock: bench.clock),
            now: { Timestamp(clampingSeconds: 0, nanoseconds: 0) }, following: SessionFeed(auth))
        try await eventually("the manager follows the session") { auth.listenerCount == 1 }
        bench.server.fail("begin", .hang, .hang)
        let files = try ["alice", "bob"].map { try bench.file(TransferBench.bytes(100), name: $0) }
        let alices = try bench.upload(.file(files[0]), on: manager, of: alice)
        let bobs = try bench.upload(.file(files[1]), on: manager, of: "bob")
        try await eventually("both sessions are asked for") { bench.server.calls.count == 2 }
        try await auth.signOut(.local, wipesLocalData: true)
        let error = await #expect(throws: FileStorageError.self) { try await alices.result() }
        #expect(error?.code == .cancelled)
        await manager.shutDown()
        let theirs = await #expect(throws: FileStorageError.self) { try await bobs.result() }
        #expect(theirs?.code == .shutDown, "it went on until then")
        await auth.shutDown()
    }

    @Test func `Without a folder nothing is noted down, and everything else works`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let manager = TransferManager(
            TransferPolicy(firstPart: 10, largestPart: 80, wholeLimit: 0), records: UploadRecords(folder: nil),
            tries: RetryingCaller(clock: bench.clock), now: { Timestamp(clampingSeconds: 0, nanoseconds: 0) })
        #expect(!manager.keepsUploads)
        _ = try await bench.upload(.file(bench.file(TransferBench.bytes(100))), on: manager).result()
        #expect(bench.server.contents == TransferBench.bytes(100))
        #expect(try manager.interruptedUploads(of: "").isEmpty)
    }

    @Test func `After the end nothing begins`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        await bench.manager.shutDown()
        let error = #expect(throws: FileStorageError.self) { try bench.upload(.data(Data([1]))) }
        #expect(error?.code == .shutDown)
    }
}

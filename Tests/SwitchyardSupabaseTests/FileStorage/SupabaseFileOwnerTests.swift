import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// What begins in one person's name never goes on in another's.
@Suite struct SupabaseFileOwnerTests: SupabaseFileSuite {
    @Test func `An upload stops when somebody else signs in, and is resumed by whoever began it`() async throws {
        let part = 6 << 20
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uploads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a")
        try Data(count: part + 1).write(to: file)
        let user = Mutex("alice")
        let (transport, client) = client(
            [
                .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session])),
                .on(
                    .patch, Self.session,
                    check: { _ in
                        user.withLock { $0 = "bob" }
                        return nil
                    }, .status(204, headers: ["Upload-Offset": "\(part)"])),
                .on(
                    .head, Self.session,
                    .status(200, headers: ["Upload-Offset": "\(part)", "Upload-Length": "\(part + 1)"])),
                .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(part + 1)"])),
                Self.info("a", size: part + 1),
            ], folder: folder, user: user.withLock { $0 })
        let error = await failure { _ = try await client.upload(.file(file), to: "a").result() }
        #expect(error?.code == .sessionChanged)
        #expect(transport.requests.count == 2)
        #expect(try await client.interruptedUploads().isEmpty)
        user.withLock { $0 = "alice" }
        let id = try #require(try await client.interruptedUploads().first).id
        #expect(try await client.resumeUpload(id).result().size == Int64(part + 1))
        try transport.verify()
    }

    @Test func `New tokens in place of refused ones are the same person's`() async throws {
        let user = Mutex("alice")
        let (transport, client) = client(
            [
                .on(
                    .get, "\(Self.root)/object/info/authenticated/avatars/a",
                    check: { _ in
                        user.withLock { $0 = "bob" }
                        return nil
                    },
                    .json(#"{"statusCode":"403","error":"Unauthorized","message":"jwt expired"}"#, status: 400))
            ], user: user.withLock { $0 })
        #expect(await failure { _ = try await client.metadata(of: "a") }?.code == .sessionChanged)
        try transport.verify()
    }

    @Test func `An upload that was interrupted is its owner's, whoever uses the device next`() async throws {
        let part = 6 << 20
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uploads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a")
        try Data(count: part + 1).write(to: file)
        let (transport, alice) = client(
            [
                .on(.post, "\(Self.root)/upload/resumable", .status(201, headers: ["Location": Self.session])),
                .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(part)"])),
                .on(.patch, Self.session, .hang),
            ], folder: folder)
        _ = try await alice.upload(.file(file), to: "a")
        try await eventually("the second part is under way") { transport.requests.count == 3 }
        await alice.shutDown()

        let (later, again) = client(
            [
                .on(
                    .head, Self.session,
                    .status(200, headers: ["Upload-Offset": "\(part)", "Upload-Length": "\(part + 1)"])),
                .on(.patch, Self.session, .status(204, headers: ["Upload-Offset": "\(part + 1)"])),
                Self.info("a", size: part + 1),
            ], folder: folder)
        let id = try #require(try await again.interruptedUploads().first).id
        let (_, bob) = client([], folder: folder, user: "bob")
        let (_, signedOut) = client([], folder: folder) { _ throws(AuthError) in nil }
        for other in [bob, signedOut] {
            #expect(try await other.interruptedUploads().isEmpty)
            #expect(await failure { _ = try await other.resumeUpload(id) }?.code == .notFound)
        }
        #expect(try await again.resumeUpload(id).result().size == Int64(part + 1))
        try later.verify()
    }
}

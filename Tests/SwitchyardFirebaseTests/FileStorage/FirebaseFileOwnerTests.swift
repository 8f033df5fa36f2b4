import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// What begins in one person's name never goes on in another's.
@Suite struct FirebaseFileOwnerTests {
    private static let root = FirebaseFilePitfallTests.root
    private static let session = "https://firebasestorage.googleapis.com/v0/b/demo/o?name=f&upload_id=u"

    /// Somebody who is signed in until a request arrives that lets somebody else sign in.
    private final class Device: Sendable {
        private let current = Mutex("alice")
        var user: AuthUser.ID { current.withLock { $0 } }

        func signIn(_ user: AuthUser.ID) { current.withLock { $0 = user } }

        func client(_ transport: ScriptedTransport) throws -> FirebaseFileStorageAdapter {
            try FirebaseFilePitfallTests.client(
                transport, auth: FixedAuthClient(provider: .firebase, user: self.user) { _ throws(AuthError) in "any" })
        }

        /// Bob signs in while this is under way.
        func handOver(_ method: HTTPMethod, _ address: String, _ reply: ScriptedReply) -> ScriptedExchange {
            .on(
                method, address,
                check: { [self] _ in
                    signIn("bob")
                    return nil
                }, reply)
        }
    }

    private func failure(_ body: () async throws -> Void) async -> FileStorageError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? FileStorageError
        }
    }

    @Test func `An upload sends no part with another's token`() async throws {
        let device = Device()
        let active: HTTPHeaders = ["X-Goog-Upload-Status": "active", "X-Goog-Upload-URL": Self.session]
        let transport = ScriptedTransport([
            .on(.post, Self.root + "?name=f", .text("OK", headers: active)),
            device.handOver(.post, Self.session, .text("OK", headers: active)),
        ])
        let error = await failure { try await device.client(transport).put(Data(count: 600_000), at: "f") }
        #expect(error?.code == .sessionChanged)
        try transport.verify()
    }

    @Test func `A download, a list and a repeated call end when somebody else signs in`() async throws {
        let page = Self.root + "?prefix=&delimiter=%2F&maxResults=100"
        let device = Device()
        let transport = ScriptedTransport([
            device.handOver(.get, Self.root + "/f?alt=media", .failure(.scriptedCut)),
            device.handOver(.get, page, .json(#"{"items":[{"name":"f"}]}"#)),
            device.handOver(.delete, Self.root + "/f", .failure(.scriptedCut)),
        ])
        let client = try device.client(transport)
        let calls: [() async throws -> Void] = [
            { _ = try await client.data(at: "f", range: nil, limit: 10) }, { _ = try await client.list() },
            { try await client.delete("f") },
        ]
        for call in calls {
            device.signIn("alice")
            #expect(await failure(call)?.code == .sessionChanged)
        }
        try transport.verify()
    }
}

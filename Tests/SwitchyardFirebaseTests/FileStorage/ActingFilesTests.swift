import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Files as a server has them: for whoever has sent a request, and for the project itself.
@Suite struct ActingFilesTests {
    private struct Harness: FileHarness {
        static let features = LocalFilesSite.features.forCallers
        let site: LocalFilesSite
        let backend: Infrastructure
        var features: FileFeatures { Self.features }

        init() async throws {
            site = try LocalFilesSite()
            let host = site.firebase.host
            let configuration = FirebaseConfiguration(
                project: site.firebase.project, apiKey: "test", bucket: LocalFilesSite.bucket,
                emulators: FirebaseConfiguration.Emulators(firestore: host, storage: host), usesEmulatorVariables: false
            )
            backend = try await Infrastructure(FirebaseModule(configuration, environment: [:]) { CurlTransport() })
        }

        func acting(as user: AuthUser.ID) async throws -> ActingClients {
            try await backend.acting(as: ActingFilesTests.caller(user, token: site.firebase.idToken(for: user)))
        }

        func makeFileClient() async throws -> any FileStorageClient { try await acting(as: "alice").files }
        func fetch(_ url: URL) async throws -> Data? { try await site.fetch(url) }
        func forbiddenFile(in namespace: ConformanceNamespace) async throws -> FilePath {
            try await site.forbiddenFile(in: namespace)
        }

        func stop() async {
            await backend.shutDown()
            await site.stop()
        }
    }

    private static func caller(_ user: AuthUser.ID, token: String) -> VerifiedToken {
        VerifiedToken(
            token: Secret(token), provider: .firebase, userID: user, issuer: "https://securetoken.google.com/demo",
            expiresAt: Date(timeIntervalSinceNow: 3600))
    }

    private static let run = ConformanceRun(
        "firebase files of callers, local", FileConformance.all, for: Harness.features, part: 4
    ) { check in
        let harness = try await Harness()
        try await check(harness)
        await harness.stop()
    }

    @Test(.beside(run), arguments: run.checks)
    func `Firebase's files, for whoever has sent a request`(_ check: FileCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `The project reads and deletes what no one else may`() async throws {
        let harness = try await Harness()
        let (bob, alice) = (try await harness.acting(as: "bob").files, try await harness.acting(as: "alice").files)
        let path: FilePath = "users/bob/private/a.txt"
        try await bob.put(Data("for bob only".utf8), at: path)
        let refusal = await #expect(throws: FileStorageError.self) { try await alice.data(at: path) }
        #expect(refusal?.code == .unauthorized)
        let project = try await harness.backend.actingAsProject().files
        #expect(project.capabilities == Harness.features.capabilities)
        #expect(try await project.data(at: path) == Data("for bob only".utf8))
        #expect(try await project.list("users/bob/private").files.map(\.path) == [path])
        try await project.delete(path)
        let gone = await #expect(throws: FileStorageError.self) { try await bob.metadata(of: path) }
        #expect(gone?.code == .notFound)
        await harness.stop()
    }

    @Test func `Callers' clients come and go, and what they share stays`() async throws {
        let harness = try await Harness()
        try await harness.acting(as: "alice").files.put(Data("one".utf8), at: "users/alice/a")
        let first = try await harness.acting(as: "alice").files
        await first.shutDown()
        let closed = await #expect(throws: FileStorageError.self) { try await first.metadata(of: "users/alice/a") }
        #expect(closed?.code == .shutDown)
        // One that no one holds any more finishes its transfers.
        let transfer = try await harness.acting(as: "alice").files.upload(
            .data(Data(count: 600_000)), to: "users/alice/b")
        #expect(try await transfer.result().size == 600_000)
        let file = ScratchSpace.url.appendingPathComponent("acting-\(UUID().uuidString)")
        let download = try await harness.acting(as: "alice").files.download("users/alice/b", to: file)
        #expect(try await download.result().size == 600_000)
        try FileManager.default.removeItem(at: file)
        await harness.stop()
    }

    // MARK: What goes along

    private static let address = "https://firebasestorage.googleapis.com/v0/b/demo.appspot.com/o/a"

    private static func backend(
        _ transport: ScriptedTransport, credential: FirebaseCredential? = nil, bucket: String? = "demo.appspot.com"
    ) async throws -> Infrastructure {
        let configuration = FirebaseConfiguration(
            project: "demo", apiKey: "key", credential: credential, bucket: bucket, usesEmulatorVariables: false)
        return try await Infrastructure(FirebaseModule(configuration, environment: [:]) { transport })
    }

    private static func check(_ authorization: String) -> @Sendable (RecordedRequest) -> String? {
        { recorded in
            let found = recorded.request.headers["Authorization"]
            return found == authorization ? nil : "Authorization is \(found ?? "missing")"
        }
    }

    @Test func `A caller's token goes along, and is not replaced when it is refused`() async throws {
        let transport = ScriptedTransport([
            .on(.get, Self.address, check: Self.check("Firebase token-ada"), .status(401))
        ])
        let backend = try await Self.backend(
            transport, credential: .tokens { _ in .init("project", expiresAt: .distantFuture) })
        let mine = try await backend.acting(as: Self.caller("ada", token: "token-ada"))
        let error = await #expect(throws: FileStorageError.self) { try await mine.files.metadata(of: "a") }
        #expect(error?.code == .unauthenticated)
        try transport.verify()
        await backend.shutDown()
    }

    @Test func `The project's token goes along, and a new one when it is refused`() async throws {
        let object = FirebaseFilePitfallTests.object("a")
        let transport = ScriptedTransport([
            .on(.get, Self.address, check: Self.check("Bearer old"), .status(401)),
            .on(.get, Self.address, check: Self.check("Bearer new"), .json(object)),
        ])
        let backend = try await Self.backend(
            transport,
            credential: .tokens { isRefused in .init(isRefused ? "new" : "old", expiresAt: .distantFuture) })
        #expect(try await backend.actingAsProject().files.metadata(of: "a").path == "a")
        try transport.verify()
        await backend.shutDown()
    }

    @Test func `A credential whose new token is refused, too, is not asked with any more`() async throws {
        let transport = ScriptedTransport([
            .on(.get, Self.address, check: Self.check("Bearer old"), .status(401)),
            .on(.get, Self.address, check: Self.check("Bearer new"), .status(401)),
        ])
        let backend = try await Self.backend(
            transport,
            credential: .tokens { isRefused in .init(isRefused ? "new" : "old", expiresAt: .distantFuture) })
        let project = try await backend.actingAsProject()
        let error = await #expect(throws: FileStorageError.self) { try await project.files.metadata(of: "a") }
        #expect(error?.code == .unauthenticated && error?.isRetryable == false)
        try transport.verify()
        await backend.shutDown()
    }

    @Test func `Without a bucket there are documents and no files`() async throws {
        let backend = try await Self.backend(ScriptedTransport(), bucket: nil)
        let mine = try await backend.acting(as: Self.caller("ada", token: "token-ada"))
        #expect(mine.storage.provider == .firebase)
        let error = await #expect(throws: FileStorageError.self) { try await mine.files.metadata(of: "a") }
        #expect(error?.code == .unsupported && error?.message.contains("bucket") == true)
        await backend.shutDown()
    }
}

import Foundation
import SwitchyardMock
import Testing

@testable import Switchyard

/// Errors of an infrastructure's clients say what was tried, on what.
@Suite struct NamedErrorTests {
    private func backend() async throws -> (Infrastructure, MockStorageClient) {
        let backend = try await InfrastructureFactory(MockModule()).make(InfrastructureSelection(default: .mock))
        return (backend, try #require(backend.storage.unwrapped(as: MockStorageClient.self)))
    }

    @Test func `Reads, queries, streams and writes name their target once, and keep code and hints`() async throws {
        let (backend, mock) = try await backend()
        let refusal = StorageError(.unauthorized, "Not allowed.", retryAfter: .seconds(3), isRefusal: true)
        mock.controls.fail(.document, with: refusal)
        mock.controls.fail(.commit, with: refusal)
        mock.controls.fail(.query, with: refusal)
        mock.controls.fail(.queryStream, with: refusal)

        let read = await #expect(throws: StorageError.self) { _ = try await backend.storage.document("users/alice") }
        #expect(read?.message == "Reading “users/alice” failed: Not allowed.")
        #expect(read?.code == .unauthorized && read?.retryAfter == .seconds(3) && read?.isRefusal == true)
        let write = await #expect(throws: StorageError.self) {
            try await backend.storage.setDocument("users/alice", ["n": 1]).acknowledged()
        }
        #expect(write?.message == "Writing “users/alice” failed: Not allowed.")
        let query = await #expect(throws: StorageError.self) {
            _ = try await backend.storage.documents(Query(in: "users"))
        }
        #expect(query?.message == "Querying “users” failed: Not allowed.")
        let stream = await #expect(throws: StorageError.self) {
            for try await _ in backend.storage.snapshots(of: Query(in: "users")) {}
        }
        #expect(stream?.message == "Following “users” failed: Not allowed.")
        await backend.shutDown()
    }

    @Test func `A refusal on the receipt names the first document and counts the others`() async throws {
        let (backend, _) = try await backend()
        let batch = WriteBatch([try .update("users/alice", ["n": 1]), try .set("users/bob", ["n": 1])])
        let receipt = try await backend.storage.commit(batch)
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("“users/alice”") == true)
        await backend.shutDown()
    }

    @Test func `What names its target already, and what is about the client, stays as it is`() async throws {
        let operation = ClientOperation("document", "Reading", "users/alice", others: 2)
        #expect(StorageError(.unauthorized, "No “users/alice”.").named(operation).message == "No “users/alice”.")
        #expect(StorageError(.shutDown, "Shut down.").named(operation).message == "Shut down.")
        #expect(StorageError(.unauthorized, "No.").named("document").message == "No.")
        #expect(
            StorageError(.unauthorized, "No.").named(operation).message
                == "Reading “users/alice” and 2 more failed: No.")
    }

    @Test func `Calls about accounts say what was tried, and never about whom`() async throws {
        let (backend, _) = try await backend()
        let unknown = await #expect(throws: AuthError.self) {
            try await backend.auth.signIn(email: "alice@example.com", password: "long enough")
        }
        #expect(unknown?.code == .invalidCredential)
        #expect(unknown?.message.hasPrefix("Signing in failed: ") == true)
        #expect(unknown?.message.contains("alice") == false)
        let weak = await #expect(throws: AuthError.self) {
            try await backend.auth.signUp(email: "alice@example.com", password: "short")
        }
        #expect(weak?.message.hasPrefix("Signing up failed: ") == true)
        #expect(weak?.message.contains("alice") == false && weak?.message.contains("short") == false)
        let signedOut = await #expect(throws: AuthError.self) { try await backend.auth.reloadUser() }
        #expect(signedOut?.code == .notSignedIn)
        #expect(signedOut?.message.hasPrefix("Reloading the account failed: ") == true)
        await backend.shutDown()
    }

    @Test func `An error that is named keeps the challenge of a second factor, and is named once`() {
        let challenge = SecondFactorChallenge(factors: [], session: "half-way")
        let operation = ClientOperation.personal("sign in", "Signing in")
        let error = AuthError(.secondFactorRequired, "A code is needed.", challenge: challenge).named(operation)
        #expect(error.message == "Signing in failed: A code is needed.")
        #expect(error.named(operation).message == error.message)
        #expect(error.code == .secondFactorRequired && error.challenge == challenge)
    }

    @Test func `Messages say what was tried`() async throws {
        let (backend, _) = try await backend()
        let mock = try #require(backend.messaging.unwrapped(as: MockMessagingClient.self))
        _ = try await backend.messaging.token()
        mock.controls.fail(.subscribe, with: MessagingError(.rateLimited, "Wait a moment."))
        let error = await #expect(throws: MessagingError.self) { try await backend.messaging.subscribe(to: "news") }
        #expect(error?.message == "Subscribing to a topic failed: Wait a moment.")
        await backend.shutDown()
    }

    @Test func `Files name theirs`() async throws {
        let (backend, _) = try await backend()
        let error = await #expect(throws: FileStorageError.self) { _ = try await backend.files.data(at: "a/b.txt") }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("“a/b.txt”") == true)
        await backend.shutDown()
    }

    private static let notAllowed = StorageError(.unauthorized, "Not allowed.")

    @Test func `Callers' clients and the project's say what was tried, as all others do`() async throws {
        let (backend, _) = try await backend()
        let caller = VerifiedToken(
            token: Secret("any"), provider: .mock, userID: "alice", issuer: "somebody",
            expiresAt: Date(timeIntervalSinceNow: 3600))
        let mine = try await backend.acting(as: caller)
        let project = try await backend.actingAsProject()
        for storage in [mine.storage, project.storage] {
            let mock = try #require(storage.unwrapped(as: MockStorageClient.self))
            mock.controls.fail(.document, with: Self.notAllowed)
            mock.controls.fail(.commit, with: Self.notAllowed)
            mock.controls.fail(.queryStream, with: Self.notAllowed)
            let read = await #expect(throws: StorageError.self) { _ = try await storage.document("users/alice") }
            #expect(read?.message == "Reading “users/alice” failed: Not allowed." && read?.code == .unauthorized)
            let write = await #expect(throws: StorageError.self) {
                try await storage.setDocument("users/alice", ["n": 1]).acknowledged()
            }
            #expect(write?.message == "Writing “users/alice” failed: Not allowed.")
            let stream = await #expect(throws: StorageError.self) {
                for try await _ in storage.snapshots(of: Query(in: "users")) {}
            }
            #expect(stream?.message == "Following “users” failed: Not allowed.")
        }
        for files in [mine.files, project.files] {
            let mock = try #require(files.unwrapped(as: MockFileStorageClient.self))
            mock.controls.fail(.metadata, with: FileStorageError(.unauthorized, "Not allowed."))
            let error = await #expect(throws: FileStorageError.self) { try await files.metadata(of: "a/b.txt") }
            #expect(error?.message == "Reading the metadata of “a/b.txt” failed: Not allowed.")
        }
        await backend.shutDown()
    }

    @Test func `A transaction's reads and writes say what was tried`() async throws {
        let (backend, mock) = try await backend()
        mock.controls.fail(.transactionRead, with: Self.notAllowed)
        let read = await #expect(throws: StorageError.self) {
            try await backend.storage.transaction { _ = try await $0.documents(["users/alice", "users/bob"]) }
        }
        #expect(read?.message == "Reading “users/alice” and 1 more failed: Not allowed.")
        mock.controls.fail(.transactionCommit, with: Self.notAllowed)
        let write = await #expect(throws: StorageError.self) {
            try await backend.storage.transaction { try await $0.set("users/alice", ["n": 1]) }
        }
        #expect(write?.message == "Writing “users/alice” failed: Not allowed." && write?.code == .unauthorized)
        await backend.shutDown()
    }

    /// A provider that cannot reach its server, and whose server has refused a write.
    private struct Troubled: MockBacked {
        static let provider: InfrastructureProvider = "troubled"
        struct Configuration: Codable, Sendable { var name = "" }
        let configuration: Configuration
        let mock = MockModule(backend: MockBackend())
        init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

        func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
            TroubledStorage(base: try await mock.makeStorageClient(context))
        }
    }

    private struct TroubledStorage: StorageClientWrapper {
        let base: any StorageClient
        private let metadata = SnapshotMetadata(
            isFromCache: true, serverError: StorageError(.unavailable, "No one answers."))

        init(base: any StorageClient) { self.base = base }

        func document(
            _ path: StoragePath, from source: ReadSource
        ) async throws(StorageError) -> DocumentSnapshot { .missing(path, metadata: metadata) }
        func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
            QuerySnapshot(query: query, documents: [.missing("users/alice", metadata: metadata)], metadata: metadata)
        }
        func snapshots(
            of path: StoragePath, options: ListenOptions
        ) -> SnapshotStream<DocumentSnapshot, StorageError> { .just(.missing(path, metadata: metadata)) }
        func snapshots(
            of query: Query, options: ListenOptions
        ) -> SnapshotStream<QuerySnapshot, StorageError> {
            .just(QuerySnapshot(query: query, documents: [], metadata: metadata))
        }
        func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
            .just([
                RefusedWrite(
                    id: "1", batch: WriteBatch([.delete("users/alice")]), refusedAt: Timestamp(microseconds: 0),
                    error: StorageError(.unauthorized, "Not allowed."))
            ])
        }
    }

    @Test func `What snapshots and the list of refused writes say of the server begins with what was tried`()
        async throws
    {
        let backend = try await Infrastructure(Troubled())
        let storage = backend.storage
        let read = try await storage.document("users/alice").metadata
        #expect(read.serverError?.message == "Reading “users/alice” failed: No one answers." && read.isFromCache)
        let results = try await storage.documents(Query(in: "users"))
        #expect(results.metadata.serverError?.message == "Querying “users” failed: No one answers.")
        #expect(results.documents.first?.metadata.serverError?.message == "Querying “users” failed: No one answers.")
        for try await snapshot in storage.snapshots(of: "users/alice") {
            #expect(snapshot.metadata.serverError?.message == "Following “users/alice” failed: No one answers.")
            break
        }
        for try await snapshot in storage.snapshots(of: Query(in: "users")) {
            #expect(snapshot.metadata.serverError?.message == "Following “users” failed: No one answers.")
            #expect(snapshot.metadata.serverError?.code == .unavailable && snapshot.metadata.isFromCache)
            break
        }
        for try await refused in storage.refusedWrites() {
            #expect(refused.map(\.error.message) == ["Writing “users/alice” failed: Not allowed."])
            break
        }
        await backend.shutDown()
    }
}

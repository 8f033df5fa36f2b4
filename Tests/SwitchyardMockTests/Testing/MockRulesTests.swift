import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// Security rules on the mock: who is refused what, and how that is said.
@Suite struct MockRulesTests {
    private static func refusal<Result>(
        _ call: () async throws(StorageError) -> Result
    ) async -> StorageError? {
        do throws(StorageError) {
            _ = try await call()
            return nil
        } catch {
            return error
        }
    }

    /// Alice's and Bob's devices of one project.
    private static func devices(
        _ rules: MockRules
    ) async throws -> (project: MockBackend, alice: Infrastructure, bob: Infrastructure) {
        let project = MockBackend(rules: rules)
        try project.seed([
            ("users/alice", ["name": "Alice"]), ("users/bob", ["name": "Bob"]),
            ("notes/1", ["owner": "alice", "text": "x"]), ("notes/2", ["owner": "bob", "text": "y"]),
        ])
        return (
            project, try await project.infrastructure(signedInAs: "alice"),
            try await project.infrastructure(signedInAs: "bob")
        )
    }

    @Test func `Owners do with their documents what they like`() async throws {
        let (project, alice, _) = try await Self.devices(.ownersOnly)
        #expect(try await alice.storage.document("users/alice")["name"] == "Alice")
        try await alice.storage.setDocument("users/alice/todos/1", ["title": "Milk"]).acknowledged()
        #expect(try await alice.storage.documents(Query(in: "users/alice/todos")).count == 1)
        #expect(try await alice.storage.documents(Query(in: "users/alice/nothing")).isEmpty)
        try await alice.storage.updateDocument("notes/1", ["text": "z"]).acknowledged()
        let own = Query(in: "notes").where("owner", .equal, "alice")
        #expect(try await alice.storage.documents(own).documents.map(\.id) == ["1"])
        #expect(try await alice.storage.count(own) == 1)
        try await alice.storage.transaction { transaction in
            let note = try await transaction.document("notes/1")
            try await transaction.update("notes/1", ["text": .value(note["text"] ?? .null)])
        }
        try await alice.storage.deleteDocument("notes/1").acknowledged()
        #expect(project.documentCount == 4)
    }

    @Test func `A user whose ID only looks like another's is another user`() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let project = MockBackend(rules: .ownersOnly)
        try project.seed([
            (StoragePath("users", composed), ["name": "One"]), ("notes/1", ["owner": .string(composed)]),
        ])
        let other = try await project.infrastructure(signedInAs: decomposed)
        for path in [StoragePath("users", composed), "notes/1"] {
            let refusal = await Self.refusal { () async throws(StorageError) in try await other.storage.document(path) }
            #expect(refusal?.code == .unauthorized)
        }
        #expect(try await !other.storage.document(StoragePath("users", decomposed)).exists)
    }

    @Test func `A server acts for many callers at once, and none sees more than is theirs`() async throws {
        let backend = try await Infrastructure(.mock(MockBackend(rules: .ownersOnly)))
        let crowd = Crowd(500, hasOldTokens: false) { number, _ in
            VerifiedToken(
                token: Secret("token-\(number)"), provider: .mock, userID: "caller-\(number)", issuer: "test",
                expiresAt: Date(timeIntervalSinceNow: 3600))
        }
        let outcome = try await crowd.ask(backend)
        #expect(outcome.failures.prefix(3) == [])
        #expect(outcome.mixedUp.prefix(3) == [])
        #expect(outcome.served == crowd.staying)
        await backend.shutDown()
    }

    @Test func `Reads of others' documents are refused by name`() async throws {
        let (_, alice, bob) = try await Self.devices(.ownersOnly)
        let read = await Self.refusal { () throws(StorageError) in try await bob.storage.document("users/alice") }
        #expect(read?.code == .unauthorized && read?.isRetryable == false)
        #expect(read?.message == "The mock's rules do not allow reading “users/alice” as “bob”.")
        let several = await Self.refusal { () throws(StorageError) in
            try await bob.storage.documents(["users/bob", "notes/1"])
        }
        #expect(several?.message.contains("reading “notes/1”") == true)
        let inTransaction = await Self.refusal { () throws(StorageError) in
            try await bob.storage.transaction { _ = try await $0.document("users/alice") }
        }
        #expect(inTransaction?.code == .unauthorized)
        try await alice.auth.signOut()
        let signedOut = await Self.refusal { () throws(StorageError) in
            try await alice.storage.document("users/alice")
        }
        #expect(signedOut?.message.contains("while no user is signed in") == true)
    }

    @Test func `A query is refused as a whole, by what it would show or by what it reads`() async throws {
        let (_, alice, bob) = try await Self.devices(.ownersOnly)
        let all = await Self.refusal { () throws(StorageError) in try await alice.storage.documents(Query(in: "notes"))
        }
        #expect(all?.code == .unauthorized)
        #expect(all?.message.contains("listing “notes” as “alice”") == true)
        let empty = await Self.refusal { () throws(StorageError) in
            try await bob.storage.documents(Query(in: "users/alice/todos"))
        }
        #expect(empty?.message.contains("listing “users/alice/todos” as “bob”") == true)
        let count = await Self.refusal { () throws(StorageError) in try await alice.storage.count(Query(in: "notes")) }
        #expect(count?.code == .unauthorized)
    }

    @Test func `A refused write is undone, reported and listed`() async throws {
        let (project, _, bob) = try await Self.devices(.ownersOnly)
        for change in [
            try DocumentWrite.update("notes/1", ["text": "mine"]), .delete("users/alice"),
            try .set("notes/3", ["owner": "alice"]), try .merge("notes/2", ["owner": "alice"]),
        ] {
            let receipt = try await bob.storage.commit(WriteBatch([change]))
            let error = await Self.refusal { () throws(StorageError) in try await receipt.acknowledged() }
            #expect(error?.code == .unauthorized)
            #expect(error?.message.contains("“\(change.path)” as “bob”") == true)
        }
        var refused = 0
        for try await list in bob.storage.refusedWrites() {
            refused = list.count
            break
        }
        #expect(refused == 4)
        // The test's own client stands above the rules.
        #expect(try await MockStorageClient(project).document("notes/1")["text"] == "x")
        #expect(project.documentCount == 4)
    }

    @Test func `A write that waited is refused when it reaches the server`() async throws {
        let project = MockBackend(rules: .ownersOnly)
        let network = MockNetwork()
        let bob = try await project.infrastructure(signedInAs: "bob", network: network)
        network.isOnline = false
        let receipt = try await bob.storage.setDocument("users/alice", ["name": "Bob"])
        network.isOnline = true
        let error = await Self.refusal { () throws(StorageError) in try await receipt.acknowledged() }
        #expect(error?.code == .unauthorized)
        #expect(project.documentCount == 0)
    }

    @Test func `Streams are refused when they begin, and end when the rules no longer let them`() async throws {
        let (project, alice, bob) = try await Self.devices(.ownersOnly)
        let atOnce = await Self.refusal { () throws(StorageError) in
            for try await _ in bob.storage.snapshots(of: "users/alice") {}
        }
        #expect(atOnce?.message.contains("reading “users/alice” as “bob”") == true)
        let query = await Self.refusal { () throws(StorageError) in
            for try await _ in bob.storage.snapshots(of: Query(in: "notes")) {}
        }
        #expect(query?.code == .unauthorized)

        let seen = Mutex(0)
        let following = Task {
            await Self.refusal { () throws(StorageError) in
                for try await _ in alice.storage.snapshots(of: "notes/1") { seen.withLock { $0 += 1 } }
            }
        }
        try await eventually("the note is shown") { seen.withLock { $0 } == 1 }
        try await MockStorageClient(project).updateDocument("notes/1", ["owner": "bob"]).acknowledged()
        #expect(await following.value?.code == .unauthorized)
    }

    @Test func `A stream of somebody who signs out ends`() async throws {
        let (_, alice, _) = try await Self.devices(.signedIn)
        let seen = Mutex(0)
        let following = Task {
            await Self.refusal { () throws(StorageError) in
                for try await _ in alice.storage.snapshots(of: Query(in: "users")) { seen.withLock { $0 += 1 } }
            }
        }
        try await eventually("the list is shown") { seen.withLock { $0 } > 0 }
        try await alice.auth.signOut()
        #expect(await following.value?.code == .unauthorized)
    }

    @Test func `Rules of one's own see who asks, what is there, what comes and other documents`() async throws {
        let rules = MockRules { request in
            let members = request.document("teams/a")?["members"]?.arrayValue ?? []
            guard let userID = request.userID, members.contains(.string(userID)) else { return false }
            return !request.access.isWrite || request.proposed?["by"]?.stringValue == userID
        }
        let (project, alice, bob) = try await Self.devices(rules)
        try project.seed([("teams/a", ["members": ["alice"]])])
        try await alice.storage.setDocument("teams/a/notes/1", ["by": "alice"]).acknowledged()
        let forged = try await alice.storage.setDocument("teams/a/notes/2", ["by": "bob"])
        let error = await Self.refusal { () throws(StorageError) in try await forged.acknowledged() }
        #expect(error?.message.contains("creating “teams/a/notes/2” as “alice”") == true)
        let outsider = await Self.refusal { () throws(StorageError) in
            try await bob.storage.documents(Query(in: "teams/a/notes"))
        }
        #expect(outsider?.code == .unauthorized)
    }

    @Test func `Of two sets of rules one is enough, and what belongs together is written together`() async throws {
        let pairs = MockRules { request in
            request.userID != nil && request.path.collection == "halves" && request.documentAfter("halves/2") != nil
        }
        let (project, alice, _) = try await Self.devices(MockRules.ownersOnly.or(pairs))
        try await alice.storage.setDocument("users/alice/todos/1", ["title": "Milk"]).acknowledged()
        let alone = try await alice.storage.setDocument("halves/1", ["n": 1])
        let error = await Self.refusal { () throws(StorageError) in try await alone.acknowledged() }
        #expect(error?.code == .unauthorized)
        let both = WriteBatch([try .set("halves/1", ["n": 1]), try .set("halves/2", ["n": 2])])
        try await alice.storage.commit(both).acknowledged()
        #expect(project.documentCount == 7)
    }

    @Test func `An operation can be made to fail by its code alone, and a transaction is another one`() async throws {
        let storage = MockStorageClient()
        storage.controls.fail(.commit, with: .unavailable)
        try await storage.transaction { try await $0.set("a/1", ["n": 1]) }
        let error = await Self.refusal { () throws(StorageError) in try await storage.setDocument("a/2", ["n": 1]) }
        #expect(error?.code == .unavailable)
        storage.controls.fail(.transactionCommit, with: .unauthorized)
        let second = await Self.refusal { () throws(StorageError) in
            try await storage.transaction { try await $0.set("a/3", ["n": 1]) }
        }
        #expect(second?.code == .unauthorized)
    }
}

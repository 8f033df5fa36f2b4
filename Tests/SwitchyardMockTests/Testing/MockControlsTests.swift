import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct MockControlsTests {
    let storage = MockStorageClient()

    @Test func `The nth call fails, and only that one`() async throws {
        storage.controls.fail(.commit, onCall: 2, with: StorageError(.unauthorized, "Refused."))
        try await storage.setDocument("a/1", ["n": 1])
        do throws(StorageError) {
            try await storage.setDocument("a/2", ["n": 2])
            Issue.record("The second call succeeded.")
        } catch {
            #expect(error.code == .unauthorized)
        }
        try await storage.setDocument("a/3", ["n": 3])
        #expect(try await storage.count(Query(in: "a")) == 2)
    }

    @Test func `From some call on, all can fail, and all answers be lost`() async throws {
        storage.controls.fail(.document, onCall: 2, times: .max, with: StorageError(.unauthorized, "Refused."))
        storage.controls.failAny(onCall: .max, times: 2, with: StorageError(.unauthorized, "Refused."))
        _ = try await storage.document("a/1")
        for _ in 0..<3 {
            await #expect(throws: StorageError.self) { try await storage.document("a/1") }
        }
        storage.controls.loseAnswers(.max)
        storage.controls.loseAnswers()
        storage.controls.reset()
        _ = try await storage.document("a/1")
    }

    @Test func `A scripted answer comes instead of the backend's`() async throws {
        storage.controls.answer(.document, times: 2, with: .existing("a/1", ["n": 7]))
        #expect(try await storage.document("a/1")["n"] == 7)
        #expect(try await storage.document("a/9")["n"] == 7)
        #expect(try await !storage.document("a/1").exists)
    }

    @Test func `A stream can be made to fail`() async throws {
        storage.controls.fail(.queryStream, with: StorageError(.unauthorized, "Refused."))
        let seen = Gathered(storage.snapshots(of: Query(in: "a")))
        try await eventually("the failure") { (seen.error as? StorageError)?.code == .unauthorized }
    }

    @Test func `Recorded calls read like sentences and hold no contents`() async throws {
        storage.controls.isRecording = true
        try await storage.commit(
            WriteBatch([.set("users/alice", ["password": "hidden"]), .delete("users/bob")]))
        _ = try await storage.document("users/alice")
        let query = Query(in: "users").where("age", .greaterThan, 17).ordered(by: "age", .descending)
        _ = try await storage.documents(query.limited(to: 3))
        #expect(
            storage.controls.calls.map(\.description) == [
                "commit set users/alice, delete users/bob", "document users/alice",
                "query users age > … by age descending first 3",
            ])
    }

    @Test func `Latency passes on the injected clock`() async throws {
        let clock = ManualClock()
        let slow = MockStorageClient(network: MockNetwork(clock: clock, latency: .seconds(5)))
        let read = Task { try await slow.document("a/1") }
        try await eventually("the call is on its way") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(5))
        #expect(try await !read.value.exists)
    }

    @Test func `A call that is cancelled on its way says so`() async throws {
        let slow = MockStorageClient(network: MockNetwork(clock: ManualClock(), latency: .seconds(5)))
        let read = Task { () -> StorageError.Code? in
            do throws(StorageError) {
                _ = try await slow.document("a/1")
                return nil
            } catch {
                return error.code
            }
        }
        read.cancel()
        #expect(await read.value == .cancelled)
    }

    @Test func `Scripts that have not had their turn are listed until they have`() async throws {
        let storage = MockStorageClient(MockBackend(), network: MockNetwork(clock: ImpatientClock()))
        let controls = storage.controls
        controls.fail(.query, times: 3, with: .unauthorized)
        controls.fail(.transactionCommit, onCall: 2, with: .aborted)
        controls.answer(.document, with: .missing("a/1"))
        controls.loseAnswers(2)
        #expect(
            controls.unused == ["fail(query)", "fail(transaction commit)", "answer(document)", "loseAnswers(2)"])
        _ = try await storage.document("a/1")
        #expect(controls.unused == ["fail(query)", "fail(transaction commit)", "loseAnswers(2)"])
        // Both answers are lost: what is asked again after the first loses the second.
        try await storage.setDocument("a/1", ["n": 1]).acknowledged()
        #expect(controls.unused == ["fail(query)", "fail(transaction commit)"])
        await #expect(throws: StorageError.self) { try await storage.documents(Query(in: "a")) }
        #expect(controls.unused == ["fail(query), 2 of 3 times left", "fail(transaction commit)"])
        controls.reset()
        #expect(controls.unused.isEmpty)
    }

    @Test func `A script can look at the calls, and leave some of them to the backend`() async throws {
        let storage = MockStorageClient(MockBackend())
        try await storage.setDocument("a/1", ["n": 1])
        storage.controls.answer(.document) { [controls = storage.controls] call in
            #expect(controls.calls.isEmpty)
            switch call.subject {
            case "a/2": return .existing("a/2", ["n": 2])
            case "a/3": throw StorageError(.unavailable, "No connection.")
            case "a/4": throw CancellationError()
            default: return nil
            }
        }
        #expect(storage.controls.unused == ["answer(document)"])
        for n in 1...2 { #expect(try await storage.document(StoragePath("a/\(n)"))["n"] == .of(n)) }
        let third = await #expect(throws: StorageError.self) { try await storage.document("a/3") }
        let fourth = await #expect(throws: StorageError.self) { try await storage.document("a/4") }
        #expect(third?.code == .unavailable && fourth?.code == .cancelled)
        #expect(storage.controls.unused.isEmpty)
        storage.controls.reset()
        #expect(try await !storage.document("a/3").exists)
    }

    @Test func `Preview clients show the sample, and people share a backend`() async throws {
        let backend = MockBackend.sample()
        let storage = PreviewStorageClient(backend)
        let auth = PreviewAuthClient(backend)
        #expect(await auth.currentUser?.id == MockSample.userID)
        let contacts = DocumentContactsClient(on: CoreClients(auth: auth, storage: storage))
        #expect(try await contacts.contacts().count == 2)
        #expect(try await PreviewFileStorageClient(backend).list("avatars").files.count == 1)
        #expect(storage.unwrapped(as: MockStorageClient.self) != nil)
    }

    @Test func `A preview's auth client passes on its users' requests, as any client around another`() async throws {
        let auth = PreviewAuthClient()
        try await auth.signOut(.local, wipesLocalData: true)
        #expect(auth.wipeRequests?.map(\.userID) == [MockSample.userID])
    }

    @Test func `The module's clients belong to one project and one device`() async throws {
        let module = MockModule(MockConfiguration(hasSampleData: true))
        let context = ModuleContext()
        let storage = try await module.makeStorageClient(context)
        let auth = try await module.makeAuthClient(context)
        try await auth.signIn(email: MockSample.email, password: MockSample.password)
        #expect(try await storage.document("users/alice").exists)
        let network = try #require(storage.unwrapped(as: MockStorageClient.self)).controls.network
        network.isOnline = false
        await #expect(throws: AuthError.self) { try await auth.accessToken(refreshing: true) }
    }
}

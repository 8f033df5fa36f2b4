import Foundation
import Switchyard
import SwitchyardMock
import Synchronization
import Testing

@Suite struct StubTests {
    @Test func `A stub answers what is set, with the arguments of the call`() async throws {
        let asked = Mutex<[String]>([])
        let users = StubUserClient(
            currentUser: { UserModel(id: "ada", displayName: "Ada") },
            user: { id in
                asked.withLock { $0.append(id) }
                return UserModel(id: id, displayName: "Other")
            })
        let me = try await users.currentUser()
        let other = try await users.user("bob")
        #expect(me.displayName == "Ada" && other.id == "bob")
        #expect(asked.withLock { $0 } == ["bob"])
    }

    @Test func `Every other call and stream refuses by name`() async throws {
        let contacts = StubContactsClient(contacts: { [] })
        let error = await #expect(throws: ContactsError.self) { try await contacts.remove("bob") }
        #expect(error?.code == .clientNotSet)
        #expect(error?.message.contains("“remove” was called on the stub of the client for contacts") == true)
        let ended = await #expect(throws: ContactsError.self) {
            for try await _ in contacts.requestsStream() {}
        }
        #expect(ended?.code == .clientNotSet)
        let storage = StubStorageClient()
        let refused = await #expect(throws: StorageError.self) {
            try await storage.document("users/ada", from: .server)
        }
        #expect(refused?.code == .clientNotSet)
    }

    @Test func `A refused call can be recorded, so that the test fails where the error is handled`() async throws {
        let recorded = Mutex<[String]>([])
        let unset = UnsetClients.stubs { message in recorded.withLock { $0.append(message) } }
        let checkIns = StubCheckInClient(over: unset.checkIns) { $0.checkIn = { Timestamp(microseconds: 1) } }
        let time = try await checkIns.checkIn()
        #expect(time == Timestamp(microseconds: 1) && recorded.withLock { $0.isEmpty })
        _ = try? await checkIns.schedule()
        #expect(recorded.withLock { $0.map { $0.contains("stub of the client for checkIns") } } == [true])
    }

    @Test func `A stub over another client changes only what is set`() async throws {
        let backend = try await Infrastructure(.mock(.sample()))
        try await backend.auth.signIn(email: MockSample.email, password: MockSample.password)
        let users = StubUserClient(over: backend.users) {
            $0.updateProfile = { _ in throw UserError(.unavailable, "No connection.") }
        }
        #expect(try await users.currentUser().displayName == "Alice Example")
        let error = await #expect(throws: UserError.self) { try await users.updateProfile(ProfileChanges()) }
        #expect(error?.message == "No connection.")
        await backend.shutDown()
    }

    @Test func `A plain stream also answers for the one that tells where its elements come from`() async throws {
        let notifications = StubNotificationClient(unreadCountStream: { .just(3) })
        for try await snapshot in notifications.unreadCountSnapshots() {
            #expect(snapshot.value == 3 && !snapshot.isFromCache)
        }
    }

    @Test func `Conveniences and typed collections reach a storage's few calls`() async throws {
        struct Todo: Codable, Equatable, Sendable { var title: String }
        let written = Mutex<[StoragePath]>([])
        let storage = StubStorageClient(
            document: { path, _ in .existing(path, ["title": "Milk"]) },
            commit: { batch in
                written.withLock { $0 += batch.writes.map(\.path) }
                return .acknowledged(batch)
            })
        let todo = try await storage.collection("todos", of: Todo.self).document("a").get()
        #expect(todo == Todo(title: "Milk"))
        try await storage.setDocument("todos/b", ["title": "Bread"])
        #expect(written.withLock { $0 } == ["todos/b"])
    }

    @Test func `Sessions are set as values`() async throws {
        let user = AuthUser(id: "ada", email: "ada@example.com")
        let auth = StubAuthClient(
            state: { .signedIn(user) }, signIn: { _ in throw AuthError(.invalidCredential, "Try again.") }
        )
        #expect(await auth.currentUser == user)
        let error = await #expect(throws: AuthError.self) {
            try await auth.signIn(email: "a@example.com", password: "x")
        }
        #expect(error?.code == .invalidCredential)
    }
}

import Switchyard
import Synchronization
import Testing

@Suite struct UnsetClientsTests {
    /// What the closure was asked for.
    private final class Calls: Sendable {
        let made = Mutex<[String]>([])

        var clients: UnsetClients {
            UnsetClients { [self] service, operation in
                made.withLock { $0.append("\(service): \(operation)") }
                return "“\(operation)” on \(service) is not set."
            }
        }
    }

    @Test func `Each call fails with its client and operation, and is reported once`() async {
        let calls = Calls()
        let clients = calls.clients
        let storage = await #expect(throws: StorageError.self) { _ = try await clients.storage.document("users/alice") }
        #expect(storage?.code == .clientNotSet)
        #expect(storage?.message == "“document” on storage is not set.")
        let auth = await #expect(throws: AuthError.self) { _ = try await clients.auth.signInAnonymously() }
        #expect(auth?.code == .clientNotSet)
        let users = await #expect(throws: UserError.self) { _ = try await clients.users.currentUser() }
        #expect(users?.message == "“current user” on users is not set.")
        #expect(calls.made.withLock { $0.count } == 3)
    }

    @Test func `A stream fails when it is read, and is reported when it is made`() async {
        let calls = Calls()
        let stream = calls.clients.storage.snapshots(of: "users/alice")
        #expect(calls.made.withLock { $0.count } == 1)
        let error = await #expect(throws: StorageError.self) { for try await _ in stream {} }
        #expect(error?.code == .clientNotSet)
        #expect(calls.made.withLock { $0.count } == 1)
    }

    @Test func `What cannot fail is unknown, and is not reported`() async {
        let calls = Calls()
        let clients = calls.clients
        #expect(await clients.auth.state == .unknown)
        #expect(await clients.auth.authStateStream().first { _ in true } == .unknown)
        #expect(await clients.messaging.permission == .undetermined)
        #expect(clients.storage.capabilities == StorageCapabilities())
        #expect(calls.made.withLock { $0.isEmpty })
    }

    @Test func `The code can be another`() async {
        let clients = UnsetClients(code: .unsupported) { _, _ in "not here" }
        let error = await #expect(throws: FileStorageError.self) { _ = try await clients.files.metadata(of: "a.txt") }
        #expect(error?.code == .unsupported)
    }
}

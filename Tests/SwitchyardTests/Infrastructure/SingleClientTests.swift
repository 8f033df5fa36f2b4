import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// Clients that a factory makes one by one.
@Suite struct SingleClientTests {
    /// Makes the client, with those of `core` where they are given, and asks it something.
    private static func use(
        _ service: InfrastructureService, of provider: InfrastructureProvider, _ factory: InfrastructureFactory,
        on core: CoreClients?
    ) async throws {
        switch (service, core) {
        case (.auth, _): _ = try await factory.createAuthClient(provider: provider).signInAnonymously()
        case (.storage, _):
            let storage = try await factory.createStorageClient(provider: provider, auth: core?.auth)
            #expect(storage.unwrapped(as: MockStorageClient.self) != nil)
            _ = try await storage.document("a/1")
        case (.files, _):
            let files = try await factory.createFileStorageClient(provider: provider, auth: core?.auth)
            #expect(files.unwrapped(as: MockFileStorageClient.self) != nil)
            _ = try await files.list()
        case (.messaging, _):
            let messaging = try await factory.createMessagingClient(provider: provider, auth: core?.auth)
            _ = try await messaging.token()
        case (.users, let core?):
            let user = try await factory.createUserClient(provider: provider, on: core).currentUser()
            #expect(await user.id == core.auth.currentUser?.id)
        case (.users, nil): _ = try await factory.createUserClient(provider: provider).currentUser()
        case (.contacts, let core?):
            #expect(try await factory.createContactsClient(provider: provider, on: core).contacts().isEmpty)
        case (.contacts, nil): _ = try await factory.createContactsClient(provider: provider).contacts()
        case (.checkIns, let core?):
            #expect(try await factory.createCheckInClient(provider: provider, on: core).history().isEmpty)
        case (.checkIns, nil): _ = try await factory.createCheckInClient(provider: provider).history()
        case (.notifications, let core?):
            #expect(try await factory.createNotificationClient(provider: provider, on: core).unreadCount() == 0)
        case (.notifications, nil): _ = try await factory.createNotificationClient(provider: provider).unreadCount()
        }
    }

    @Test func `A client that is made alone repeats calls as the configuration says`() async throws {
        let backend = MockBackend()
        var configuration = InfrastructureConfiguration(InfrastructureSelection(default: .mock))
        configuration.retry = RetryPolicy(maximumAttempts: 3, initialPause: .zero, maximumPause: .zero)
        let plain = InfrastructureFactory(MockModule(backend: backend))
        let factory = try plain.configured(by: configuration)
        let trouble = StorageError(.unavailable, "Away.", isRetryable: true)
        let storage = try await factory.createStorageClient(provider: .mock)
        let mock = try #require(storage.unwrapped(as: MockStorageClient.self))
        mock.controls.fail(.query, times: 2, with: trouble)
        #expect(try await storage.documents(Query(in: "things")).documents.isEmpty)
        mock.controls.fail(.query, times: 3, with: trouble)
        await #expect(throws: StorageError.self) { try await storage.documents(Query(in: "things")) }

        let auth = try await factory.createAuthClient(provider: .mock)
        try await auth.signUp(email: "a@example.com", password: "long enough")
        let single = try await factory.createContactsClient(provider: .mock)
        let core = try #require(
            try await plain.createStorageClient(provider: .mock, auth: auth).unwrapped(as: MockStorageClient.self))
        core.controls.fail(.query, times: 1, with: trouble)
        await #expect(throws: StorageError.self) { try await core.documents(Query(in: "things")) }
        #expect(try await single.contacts().isEmpty)
    }

    @Test func `Core clients made alone are those of the user who signs in with the auth client of their factory`()
        async throws
    {
        let factory = InfrastructureFactory(MockModule(backend: MockBackend(rules: .ownersOnly)))
        let storage = try await factory.createStorageClient(provider: .mock)
        let auth = try await factory.createAuthClient(provider: .mock)
        try await auth.signUp(email: "a@example.com", password: "long enough")
        let id = try #require(await auth.currentUser).id
        let path = try StoragePath(validating: "users/\(id)")
        try await storage.setDocument(path, ["name": "Ada"]).acknowledged()
        #expect(try await storage.document(path).exists)
    }

    @Test(arguments: InfrastructureService.allCases)
    func `Every client can be made alone, and those of the domain know the user of their auth`(
        service: InfrastructureService
    ) async throws {
        let factory = InfrastructureFactory(MockModule(backend: MockBackend()))
        let auth = try await factory.createAuthClient(provider: .mock)
        try await auth.signUp(email: "a@example.com", password: "long enough")
        let storage = try await factory.createStorageClient(provider: .mock, auth: auth)
        try await Self.use(service, of: .mock, factory, on: CoreClients(auth: auth, storage: storage))

        if service.isCore {
            try await Self.use(service, of: .mock, factory, on: nil)
        } else {
            // On clients of its own, where no user is signed in.
            let factory = InfrastructureFactory(MockModule(backend: MockBackend()))
            let error = await #expect(throws: (any Error).self) {
                () async throws -> Void in try await Self.use(service, of: .mock, factory, on: nil)
            }
            #expect((error as? any ClientError)?.code.rawValue == "unauthenticated")
        }
        for core in [nil, CoreClients(auth: auth, storage: storage)] {
            let error = await #expect(throws: InfrastructureError.self) {
                () async throws -> Void in try await Self.use(service, of: "acme", factory, on: core)
            }
            #expect(error?.code == .unknownProvider)
        }
    }

    @Test func `Domain clients made alone go by the auth client of their factory`() async throws {
        let factory = InfrastructureFactory(configurable: [MockModule.self])
        let users = try await factory.createUserClient(provider: .mock)
        await #expect(throws: UserError.self) { try await users.currentUser() }
        let auth = try await factory.createAuthClient(provider: .mock)
        let account = try await auth.signUp(email: "alice@example.com", password: "long enough").get()
        #expect(try await users.currentUser().id == account.id)

        // One storage under all of them: what one writes, the others see.
        let checkIns = try await factory.createCheckInClient(provider: .mock)
        let time = try await checkIns.checkIn()
        #expect(try await users.currentUser().lastCheckInAt == time)

        let later = try await factory.createAuthClient(provider: .mock)
        let other = try await later.signUp(email: "bob@example.com", password: "long enough").get()
        #expect(try await users.currentUser().id == other.id)
        await auth.shutDown()
        await later.shutDown()
    }

    @Test func `A folder serves all domain clients of a factory, and is asked for once`() async throws {
        let folder = ScratchSpace.url.appendingPathComponent("lone-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = InfrastructureFactory(MockModule(MockConfiguration(folder: folder)))
        async let users = factory.createUserClient(provider: .mock)
        async let contacts = factory.createContactsClient(provider: .mock)
        async let notifications = factory.createNotificationClient(provider: .mock)
        _ = try await (users, contacts, notifications)
        let auth = try await factory.createAuthClient(provider: .mock)
        try await auth.signUp(email: "alice@example.com", password: "long enough")
        #expect(try await contacts.contacts().isEmpty)
        #expect(try await notifications.unreadCount() == 0)
    }

    @Test func `What stands behind clients made alone lives as long as one of them, and is recreated after that`()
        async throws
    {
        let module = CountingModule()
        let factory = InfrastructureFactory(module)
        for round in 1...2 {
            var users: (any UserClient)? = try await factory.createUserClient(provider: "counting")
            let checkIns = try await factory.createCheckInClient(provider: "counting")
            users = nil
            let auth = try await factory.createAuthClient(provider: "counting")
            try await auth.signInAnonymously()
            try await checkIns.checkIn()
            #expect(module.storages.value == round)
            _ = users
        }
    }

    @Test func `Users of a provider without files are there, and images are refused`() async throws {
        let factory = InfrastructureFactory(CountingModule())
        let users = try await factory.createUserClient(provider: "counting")
        try await factory.createAuthClient(provider: "counting").signInAnonymously()
        _ = try await users.currentUser()
        let error = await #expect(throws: UserError.self) { try await users.removeProfileImage() }
        #expect(error?.code == .unsupported)
    }

    @Test func `A provider without documents has an auth client all the same`() async throws {
        struct Door: InfrastructureModule {
            static let provider: InfrastructureProvider = "door"
            var configuration: MockConfiguration { MockConfiguration() }
            init(_ configuration: MockConfiguration = MockConfiguration()) {}
            func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
                MockAuthClient()
            }
        }
        let factory = InfrastructureFactory(Door())
        let auth = try await factory.createAuthClient(provider: "door")
        let user = try await auth.signInAnonymously()
        let error = await #expect(throws: InfrastructureError.self) {
            try await factory.createUserClient(provider: "door")
        }
        #expect(error?.code == .unsupported && error?.message.contains("storage") == true)
        #expect(await auth.currentUser == user)
    }
}

/// A mock without files that counts its storages.
private struct CountingModule: InfrastructureModule {
    static let provider: InfrastructureProvider = "counting"
    var configuration: MockConfiguration { MockConfiguration() }
    let storages = Tally()
    private let backend = MockBackend()

    final class Tally: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func raise() { count.withLock { $0 += 1 } }
    }

    init() {}
    init(_ configuration: MockConfiguration) {}

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        MockAuthClient(backend)
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        storages.raise()
        return MockStorageClient(backend)
    }
}

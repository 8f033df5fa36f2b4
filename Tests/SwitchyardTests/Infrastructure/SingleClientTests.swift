import Switchyard
import SwitchyardMock
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
            _ = try await storage.snapshot("a/1")
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
            // On clients of its own, where nobody is signed in.
            let factory = InfrastructureFactory(MockModule(backend: MockBackend()))
            let error = await #expect(throws: (any Error).self) {
                () async throws -> Void in try await Self.use(service, of: .mock, factory, on: nil)
            }
            #expect((error as? any ClientError)?.code.rawValue == "notAuthenticated")
        }
        for core in [nil, CoreClients(auth: auth, storage: storage)] {
            let error = await #expect(throws: InfrastructureError.self) {
                () async throws -> Void in try await Self.use(service, of: "acme", factory, on: core)
            }
            #expect(error?.code == .unknownProvider)
        }
    }
}

// What an app does with the printed file.
import Dependencies
import Switchyard
import SwitchyardMock

/// Not of the main actor, as most code that uses clients.
nonisolated struct Profile {
    @Dependency(\.userClient) var users
    @Dependency(\.storageClient) var storage
    @Dependency(\.infrastructure) var infrastructure

    func load() async throws -> UserModel { try await users.currentUser() }
    func report() async throws { try await infrastructure?.use(.init(rawValue: "acme"), for: .storage) }
}

@MainActor final class Screen {
    @Dependency(\.contactsClient) var contacts

    func load() async throws { for try await _ in contacts.contactsStream() { break } }
}

func launch(with backend: Infrastructure) {
    prepareDependencies { $0.infrastructure = backend }
}

func test(on mock: Infrastructure) async throws {
    try await withDependencies {
        $0.authClient = mock.auth
        $0.storageClient = mock.storage
        $0.fileStorageClient = mock.files
        $0.messagingClient = mock.messaging
        $0.userClient = mock.users
        $0.contactsClient = mock.contacts
        $0.checkInClient = mock.checkIns
        $0.notificationClient = mock.notifications
    } operation: {
        _ = try await Profile().load()
    }
}

func run(_ program: @Sendable () async throws -> Void) async throws {
    try await withDependencies {
        $0.infrastructure = try await Infrastructure(.mock)
    } operation: {
        try await program()
    }
}

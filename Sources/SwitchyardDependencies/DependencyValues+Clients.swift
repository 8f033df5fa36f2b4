public import Switchyard
import SwitchyardMock

/// The clients. A live or test value that nobody set throws an error that names the operation; previews have sample data.
extension DependencyValues {
    public var authClient: any AuthClient {
        get { self[AuthClientKey.self] }
        set { self[AuthClientKey.self] = newValue }
    }
    public var storageClient: any StorageClient {
        get { self[StorageClientKey.self] }
        set { self[StorageClientKey.self] = newValue }
    }
    public var fileStorageClient: any FileStorageClient {
        get { self[FileStorageClientKey.self] }
        set { self[FileStorageClientKey.self] = newValue }
    }
    public var messagingClient: any MessagingClient {
        get { self[MessagingClientKey.self] }
        set { self[MessagingClientKey.self] = newValue }
    }
    public var userClient: any UserClient {
        get { self[UserClientKey.self] }
        set { self[UserClientKey.self] = newValue }
    }
    public var contactsClient: any ContactsClient {
        get { self[ContactsClientKey.self] }
        set { self[ContactsClientKey.self] = newValue }
    }
    public var checkInClient: any CheckInClient {
        get { self[CheckInClientKey.self] }
        set { self[CheckInClientKey.self] = newValue }
    }
    public var notificationClient: any NotificationClient {
        get { self[NotificationClientKey.self] }
        set { self[NotificationClientKey.self] = newValue }
    }

    /// All clients of `infrastructure`: what an app does once, around its whole run.
    public mutating func use(_ infrastructure: Infrastructure) {
        authClient = infrastructure.auth
        storageClient = infrastructure.storage
        fileStorageClient = infrastructure.files
        messagingClient = infrastructure.messaging
        userClient = infrastructure.users
        contactsClient = infrastructure.contacts
        checkInClient = infrastructure.checkIns
        notificationClient = infrastructure.notifications
    }

    /// The four core clients, and the domain clients on them.
    public mutating func use(_ core: CoreClients) {
        authClient = core.auth
        storageClient = core.storage
        if let files = core.files { fileStorageClient = files }
        if let messaging = core.messaging { messagingClient = messaging }
        userClient = DocumentUserClient(on: core)
        contactsClient = DocumentContactsClient(on: core)
        checkInClient = DocumentCheckInClient(on: core)
        notificationClient = DocumentNotificationClient(on: core)
    }
}
